import { type Clock, sleep } from '@tartan/kube/clock';
import type { RunCommand } from '../facts/run-command.ts';
import { type Flight, joinFlight } from '../single-flight.ts';

/** `launchctl print` shows another session type for a domain without a login at the console. */
const aquaPattern = /^\s*session = Aqua$/m;

/** It exited with a code, and not because of sudo: so launchctl reports that the domain does not exist. */
const isLaunchctlExit = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' && !/^sudo: /m.test(error.message);

/**
 * Whether the user has a session at the console, according to launchd. Requires root. Rejects if that is unknown: when sudo needs a
 * password, nothing is known about the console.
 */
export const hasAquaSession = (run: RunCommand, uid: number, signal: AbortSignal): Promise<boolean> =>
  run('sudo', ['-n', 'launchctl', 'print', `gui/${uid}`], signal).then(
    (text) => aquaPattern.test(text),
    (error: unknown) => {
      if (isLaunchctlExit(error)) return false;
      throw error;
    },
  );

const loginwindowService = 'system/com.apple.loginwindow';

/**
 * One of these works on a loginwindow that runs, has died (INC-08), or that launchd must not kill (macOS 14.4 and later). Never SIGHUP:
 * that leaves it dead (INC-08).
 */
const restartCommands: readonly (readonly string[])[] = [
  ['launchctl', 'kickstart', '-k', loginwindowService],
  ['killall', 'loginwindow'],
  ['launchctl', 'kickstart', loginwindowService],
];

/** Rejects with the first command's error if none works. */
const restartLoginwindow = async (run: RunCommand, signal: AbortSignal): Promise<void> => {
  let first: unknown;
  for (const way of restartCommands) {
    try {
      await run('sudo', ['-n', ...way], signal);
      return;
    } catch (error) {
      first ??= error;
      signal.throwIfAborted();
    }
  }
  throw first;
};

interface ConsoleSessionOptions {
  /** The user of the session that VMs run in: the agent's own user (INC-03). */
  readonly uid: number;
  readonly run: RunCommand;
  readonly clock: Clock;
}

const pollMs = 1_000;
/** Two seconds are usual. */
const sessionTimeoutMs = 30_000;
/** Leaves time to type for a person who repairs the login. */
const minRestartIntervalMs = 60_000;

/** What, why, what to do: this message is in the Pod's events. */
const noSessionError = (uid: number, why: string, cause?: unknown): Error =>
  new Error(
    `No virtual machine can start: user ${uid} has no session at the console, and ${why}. ` +
      'Check that automatic login is on for that user and that macOS did not replace /etc/kcpassword with its mark <sealed>, ' +
      'which it does after a wrong password: `tartan prepare-host` puts both right. FileVault and the Setup Assistant keep it out too.',
    cause === undefined ? undefined : { cause },
  );

/** The graphical session at the Mac's console, without which no VM starts (F6, INC-06). */
export const createConsoleSession = ({ uid, run, clock }: ConsoleSessionOptions) => {
  let restartedAt: number | undefined;
  const exists = (signal: AbortSignal): Promise<boolean> => hasAquaSession(run, uid, signal);

  const restart = async (signal: AbortSignal): Promise<void> => {
    const ago = restartedAt === undefined ? undefined : clock.monotonic() - restartedAt;
    if (ago !== undefined && ago < minRestartIntervalMs)
      throw noSessionError(
        uid,
        `loginwindow was restarted ${Math.round(ago / 1000)} s ago already, which did not help`,
      );
    restartedAt = clock.monotonic();
    await restartLoginwindow(run, signal).catch((error: unknown) => {
      throw noSessionError(uid, `loginwindow could not be restarted (${String(error)})`, error);
    });
  };

  const restoreSession = async (signal: AbortSignal): Promise<void> => {
    // The caller's check may predate the last restart, which created a session: another restart would end it.
    if (await exists(signal)) return;
    await restart(signal);
    const until = clock.monotonic() + sessionTimeoutMs;
    while (clock.monotonic() < until) {
      await sleep(clock, pollMs, signal);
      signal.throwIfAborted();
      // A failing check is ignored: loginwindow is still starting.
      if (await exists(signal).catch(() => false)) return;
      signal.throwIfAborted();
    }
    throw noSessionError(uid, `restarting loginwindow did not bring one up within ${sessionTimeoutMs / 1000} s`);
  };
  /** The restart in progress. */
  let restoring: Flight | undefined;
  const forget = (flight: Flight): void => {
    if (restoring === flight) restoring = undefined;
  };
  const beginRestore = (): Flight => {
    const controller = new AbortController();
    const done = restoreSession(controller.signal).finally(() => forget(flight));
    // Avoids an unhandled rejection when all callers have left.
    done.catch(() => {});
    const flight: Flight = { done, controller, waiters: 0 };
    return flight;
  };

  return {
    /** Whether it exists, according to macOS. Rejects if that is unknown. */
    exists,
    /**
     * Resolves when the session exists. Otherwise restarts loginwindow through launchd and waits for the session (INC-08); rejects
     * with a message for users if that did not help. Callers share one restart.
     */
    ensure: async (signal: AbortSignal) => {
      signal.throwIfAborted();
      if (await exists(signal)) return;
      signal.throwIfAborted();
      const flight = (restoring ??= beginRestore());
      await joinFlight(flight, signal, () => forget(flight));
    },
  };
};

export type ConsoleSession = ReturnType<typeof createConsoleSession>;
