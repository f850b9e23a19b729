import type { RunnerPool } from '@tartan/api';
import {
  type CallReport,
  createRunnerService,
  type Owner,
  ownerOf,
  readGitHubApp,
  type RunnerService,
  type RunnerServiceOptions,
} from '@tartan/github';
import { type Client, createLruCache, isKubeError, type Live, type ObjectName, secrets } from '@tartan/kube';

export interface ServiceForPoolOptions extends Omit<RunnerServiceOptions, 'app' | 'owner' | 'onCall'> {
  readonly client: Pick<Client, 'get'>;
  /** For metrics. `app`: the Secret of the App. */
  readonly onCall?: (app: string, report: CallReport) => void;
}

/** The service that acts as the GitHub App of a pool, or why there is none. */
export type ServiceForPool = (
  pool: Live<RunnerPool>,
  signal: AbortSignal,
) => Promise<RunnerService | { readonly problem: string }>;

/** How long the result of reading a Secret is cached. Shorter for an invalid one, which a user may be about to fix. */
const secretTTLMs = 60_000;
const invalidSecretTTLMs = 10_000;
/** Pools with the same Secret and owner share an entry. That of a deleted pool goes when others need the place. */
const maxEntries = 500;

type Found = { readonly version: string; readonly service: RunnerService } | { readonly problem: string };

/** Secrets are read one by one when they are needed: a cache would hold all Secrets of the namespace. Only the App itself is kept. */
export const createServiceForPool = ({ client, onCall, ...options }: ServiceForPoolOptions): ServiceForPool => {
  const { clock } = options;
  const entries = createLruCache<{ until: number; readonly found: Promise<Found> }>(maxEntries);

  const findService = async (
    secret: ObjectName,
    owner: Owner,
    previous: Promise<Found> | undefined,
    signal: AbortSignal,
  ): Promise<Found> => {
    const read = await readApp(client, secret, signal);
    if ('problem' in read) return read;
    const { app, version } = read;
    const known = await previous;
    if (known !== undefined && 'version' in known && known.version === version) return known;
    const reporting = onCall && { onCall: (report: CallReport) => onCall(secret.name, report) };
    return { version, service: createRunnerService({ ...options, ...reporting, app, owner }) };
  };

  return async ({ metadata: { namespace = '' }, spec: { github } }, signal) => {
    if (github === undefined) return { problem: 'spec.github is not set.' };
    const owner = ownerOf(github);
    if ('problem' in owner) return owner;
    const secret = { namespace, name: github.appSecretName };
    const key = JSON.stringify([secret, owner]);
    const known = entries.get(key);
    // Pools that ask at the same time wait for the same read.
    const entry =
      known !== undefined && clock.now() < known.until
        ? known
        : { until: clock.now() + secretTTLMs, found: findService(secret, owner, known?.found, signal) };
    entries.set(key, entry);
    try {
      const found = await entry.found;
      if ('service' in found) return found.service;
      if (entry !== known) entry.until = clock.now() + invalidSecretTTLMs;
      return found;
    } catch (error) {
      if (entries.get(key) === entry) entries.delete(key);
      throw error;
    }
  };
};

const readApp = async (client: Pick<Client, 'get'>, name: ObjectName, signal: AbortSignal) => {
  try {
    const { data, metadata } = await client.get(secrets, name, { signal });
    const app = readGitHubApp(data);
    return 'problem' in app ? app : { app, version: `${metadata.uid}/${metadata.resourceVersion}` };
  } catch (error) {
    if (isKubeError(error, 'notFound'))
      return { problem: `There is no Secret ${name.name}. Make it, or name another one in spec.github.appSecretName.` };
    if (isKubeError(error, 'forbidden'))
      return { problem: `The Secret ${name.name} may not be read. Give the controller the right to.` };
    throw error;
  }
};
