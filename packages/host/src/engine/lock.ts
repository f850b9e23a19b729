import { randomBytes } from 'node:crypto';
import type { HostConnection } from '../connection/connection.ts';
import { composeScript, shellCommand } from './compose-script.ts';
import { type Interrupted, interruptedBy } from './host-outcome.ts';

/** The lock of a host, held: `token` goes with every script that changes something, and the host refuses those of any other. */
export interface HeldLock {
  readonly token: string;
  /** Gives back this lock and no other. Best effort: a lock that is not given back ages away. */
  release(): Promise<void>;
}

export interface Locked {
  readonly kind: 'locked';
  readonly by: string;
  /** ISO time, by the clock of the host. */
  readonly since: string;
  /** A script of that pusher that is still at work. */
  readonly step?: string;
}

export type LockOutcome =
  | { readonly kind: 'acquired'; readonly lock: HeldLock }
  | Locked
  | { readonly kind: 'refused'; readonly code: number | undefined; readonly stderr: string }
  | Interrupted;

/** What `refused` is called to people. */
export const lockStep = { name: 'lock', title: 'take the lock of the host' };

const deadline = 30_000;

/** `owner`: a name that no other living pusher has. Whoever comes back under the same name gets the lock at once. */
export const acquireLock = async (
  connection: Pick<HostConnection, 'run'>,
  owner: string,
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
  // A command that was cut may have taken the lock all the same.
  if (outcome.kind === 'timed out' || outcome.kind === 'aborted') await release();
  if (outcome.kind === 'command failed') return { kind: 'refused', code: outcome.code, stderr: outcome.stderr };
  if (outcome.kind !== 'done') return interruptedBy(outcome, 'lock');
  if (outcome.stdout === 'acquired\n') return { kind: 'acquired', lock: { token, release } };
  const [word, by, since, step, ...more] = outcome.stdout.trimEnd().split('\t');
  if (
    word !== 'locked' ||
    by === undefined ||
    !/^\d{1,12}$/.test(since ?? '') ||
    step === undefined ||
    more.length > 0
  ) {
    return { kind: 'refused', code: undefined, stderr: `not an answer about the lock: ${outcome.stdout.slice(-200)}` };
  }
  return {
    kind: 'locked',
    by: by.replace(/#.*/, ''),
    since: new Date(Number(since) * 1000).toISOString(),
    ...(step === '-' ? {} : { step }),
  };
};
