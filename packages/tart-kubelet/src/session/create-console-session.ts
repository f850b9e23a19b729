import { type Clock, sleep } from '@tartan/kube/clock';
import type { Run } from '../node/mac/run.ts';
import { hasAquaSession } from './aqua-session.ts';
import type { ConsoleSession } from './console-session.ts';
import { restartLoginwindow } from './restart-loginwindow.ts';
import { createSharedWork } from './shared-work.ts';

export interface ConsoleSessionOptions {
  /** Whose session virtual machines run in: the user that the agent runs as (INC-03). */
  readonly uid: number;
  readonly run: Run;
  readonly clock: Clock;
}

const lookEveryMs = 1_000;
/** Two seconds are usual. */
const patienceMs = 30_000;
/** Whoever looks at a login screen, to repair it, must have the time to type. */
const restartEveryMs = 60_000;

/** What, why, what to do: this ends up in the Pod's events. */
const noSession = (uid: number, why: string, cause?: unknown): Error =>
  new Error(
    `No virtual machine can start: user ${uid} has no session at the console, and ${why}. ` +
      'Check that automatic login is on for that user and that macOS did not replace /etc/kcpassword with its mark <sealed>, ' +
      'which it does after a wrong password: `tartan prepare-host` puts both right. FileVault and the Setup Assistant keep it out too.',
    cause === undefined ? undefined : { cause },
  );

export const createConsoleSession = ({ uid, run, clock }: ConsoleSessionOptions): ConsoleSession => {
  let restartedAt: number | undefined;
  const isThere = (signal: AbortSignal): Promise<boolean> => hasAquaSession(run, uid, signal);

  const restart = async (signal: AbortSignal): Promise<void> => {
    const ago = restartedAt === undefined ? undefined : clock.monotonic() - restartedAt;
    if (ago !== undefined && ago < restartEveryMs)
      throw noSession(uid, `loginwindow was restarted ${Math.round(ago / 1000)} s ago already, which did not help`);
    restartedAt = clock.monotonic();
    await restartLoginwindow(run, signal).catch((error: unknown) => {
      throw noSession(uid, `loginwindow could not be restarted (${String(error)})`, error);
    });
  };

  const heal = async (signal: AbortSignal): Promise<void> => {
    // Whoever comes here has seen none, perhaps before the last one brought it up: a restart would end what is there.
    if (await isThere(signal)) return;
    await restart(signal);
    const until = clock.monotonic() + patienceMs;
    while (clock.monotonic() < until) {
      await sleep(clock, lookEveryMs, signal);
      signal.throwIfAborted();
      // A look that fails says nothing yet: loginwindow is on its way.
      if (await isThere(signal).catch(() => false)) return;
      signal.throwIfAborted();
    }
    throw noSession(uid, `restarting loginwindow did not bring one up within ${patienceMs / 1000} s`);
  };
  const healing = createSharedWork(heal);

  return {
    isThere,
    ensure: async (signal) => {
      signal.throwIfAborted();
      if (!(await isThere(signal))) await healing.join(signal);
    },
  };
};
