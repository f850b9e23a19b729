import { randomBytes } from 'node:crypto';
import type { Redactor } from '@tartan/kube';
import type { HostConnection } from '../connection/connection.ts';
import { composeScript, shellCommand } from './compose-script.ts';
import { type Interrupted, interruptedBy, type StepFailed } from './host-outcome.ts';
import { StepError } from './step-error.ts';

export interface Locked {
  readonly kind: 'locked';
  readonly by: string;
  /** ISO time, by the host's clock. */
  readonly since: string;
  /** The running script of that owner. */
  readonly step?: string;
}

export type LockOutcome =
  | {
      readonly kind: 'acquired';
      /** Every script that changes something carries it, and the host rejects other tokens. */
      readonly token: string;
      /** Releases only this lock. Best effort: a lock that is not released expires. */
      readonly release: () => Promise<void>;
    }
  | Locked
  | StepFailed
  | Interrupted;

const lockStep = { name: 'lock', title: 'take the lock of the host' };

const deadline = 30_000;

/** `owner` is unique among running processes. The same owner gets the lock again at once. */
export const acquireLock = async (
  connection: Pick<HostConnection, 'run'>,
  owner: string,
  redact: Redactor,
  signal?: AbortSignal,
): Promise<LockOutcome> => {
  if (!/^[\x20-\x22\x24-\x7e]+$/.test(owner) || owner === 'free') {
    throw new TypeError(`${JSON.stringify(owner)} cannot own a lock: printable ASCII without #, and not "free"`);
  }
  const token = `${owner}#${randomBytes(8).toString('hex')}`;
  const command = (verb: 'acquire' | 'release'): string =>
    shellCommand(composeScript('lock', { VERB: verb, LOCK_OWNER: token }), { asRoot: true });

  const outcome = await connection.run({ command: command('acquire'), deadline }, signal);
  const release = async (): Promise<void> => {
    await connection.run({ command: command('release'), deadline });
  };
  const rejected = (output: string, exitCode?: number): LockOutcome => ({
    kind: 'step failed',
    error: new StepError(lockStep, { failure: 'rejected', exitCode, output }, redact),
  });
  // An interrupted command may have taken the lock.
  if (outcome.kind === 'timed out' || outcome.kind === 'aborted') await release();
  if (outcome.kind === 'command failed') return rejected(outcome.stderr, outcome.code);
  if (outcome.kind !== 'done') return interruptedBy(outcome, 'lock');
  if (outcome.stdout === 'acquired\n') return { kind: 'acquired', token, release };
  const [, by, since, step] = /^locked\t([^\t]*)\t(\d{1,12})\t([^\t]*)$/.exec(outcome.stdout.trimEnd()) ?? [];
  if (by === undefined) return rejected(`not an answer about the lock: ${outcome.stdout.slice(-200)}`);
  return {
    kind: 'locked',
    by: by.replace(/#.*/, ''),
    since: new Date(Number(since) * 1000).toISOString(),
    ...(step !== undefined && step !== '-' && { step }),
  };
};
