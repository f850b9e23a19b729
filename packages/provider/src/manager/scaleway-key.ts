import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger, Redactor } from '@tartan/kube';
import type { Environment } from '@tartan/kube/flags';
import { credentialVariables, type Credentials, type parseCredentials } from '../flags/parse-credentials.ts';

/** The files of a folder that have the names of variables, as a mounted Secret has them. */
export const readCredentialFiles = (folder: string | undefined): Environment =>
  Object.fromEntries(
    folder === undefined
      ? []
      : credentialVariables.flatMap(({ name }) => {
          const text = readIfAny(join(folder, name));
          return text === undefined ? [] : [[name, text]];
        }),
  );

/** A file that cannot be read counts as missing: the parser names it. */
const readIfAny = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

type KeyDecision =
  | { readonly kind: 'keep' }
  | { readonly kind: 'replace'; readonly credentials: Credentials }
  /** For operators: never a value. */
  | { readonly kind: 'refuse'; readonly problem: string };

/** What to do about credentials that were read while others are in use. */
export const decideKey = (current: Credentials, next: ReturnType<typeof parseCredentials>): KeyDecision => {
  if ('errors' in next) return { kind: 'refuse', problem: next.errors.join(' ') };
  const { credentials } = next;
  // All Macs would look deleted.
  if (credentials.projectID !== current.projectID)
    return {
      kind: 'refuse',
      problem:
        'SCW_DEFAULT_PROJECT_ID is another project. A manager works with the Macs of one project: correct it, or restart the manager if it shall leave its Macs.',
    };
  return credentials.secretKey.reveal() === current.secretKey.reveal()
    ? { kind: 'keep' }
    : { kind: 'replace', credentials };
};

interface ScalewayKeyOptions {
  /** Those of the start. */
  readonly credentials: Credentials;
  /** As they are now. */
  readonly readCredentials: () => ReturnType<typeof parseCredentials>;
  readonly log: Logger;
  /** That of the log: every key is added. */
  readonly redactor: Pick<Redactor, 'add'>;
}

/**
 * The secret key for the next request to Scaleway. Credentials are read each time: their files are small and in memory, requests are ten a
 * second at most, and kubelet replaces a mounted Secret by a symbolic link, which file watchers miss. A key that cannot be used is logged
 * once, and the previous one stays in use.
 */
export const createScalewayKey = (options: ScalewayKeyOptions): (() => string) => {
  const { readCredentials, log, redactor } = options;
  let current = options.credentials;
  let reported: string | undefined;
  redactor.add(current.secretKey.reveal());
  return () => {
    const decision = decideKey(current, readCredentials());
    const problem = decision.kind === 'refuse' ? decision.problem : undefined;
    if (problem !== undefined && problem !== reported)
      log.error('The new API key of Scaleway cannot be used. The previous one stays in use', { problem });
    reported = problem;
    if (decision.kind === 'replace') {
      current = decision.credentials;
      redactor.add(current.secretKey.reveal());
      log.info('The API key of Scaleway was replaced');
    }
    return current.secretKey.reveal();
  };
};
