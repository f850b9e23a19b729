import { type Clock, sleep } from '@tartan/kube/clock';

/** For writers that ended without a notification. */
const maxWaitMs = 5_000;

/** Notifies readers that follow logs of new lines, within this process. */
export const createLogNotifier = (clock: Clock) => {
  let version = 0;
  let changed = new AbortController();
  return {
    /** Number of changes so far. Read it before reading a log. */
    version: () => version,
    /** Call when a log has changed. */
    notify: () => {
      version += 1;
      changed.abort();
      changed = new AbortController();
    },
    /** Resolves when there were more changes than `seen`, when `signal` fires, or after `maxWaitMs`. */
    wait: async (seen: number, signal: AbortSignal) => {
      if (version === seen) await sleep(clock, maxWaitMs, AbortSignal.any([signal, changed.signal]));
    },
  };
};

export type LogNotifier = ReturnType<typeof createLogNotifier>;
