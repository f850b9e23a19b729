import { type Clock, sleep } from '@tartan/kube/clock';

/** For writers that ended without a notification. */
const maxWaitMs = 5_000;

/** Tells readers that follow logs of new lines. Writers and readers are in the same process. */
export const createLogNotifier = (clock: Clock) => {
  let version = 0;
  let changed = new AbortController();
  return {
    /** How often logs have changed so far, to be read before reading a log. */
    version: () => version,
    /** Some log has changed. */
    notify: () => {
      version += 1;
      changed.abort();
      changed = new AbortController();
    },
    /** Resolves when there have been more changes than `seen`, when `signal` fires, or after a while in any case. */
    wait: async (seen: number, signal: AbortSignal) => {
      if (version === seen) await sleep(clock, maxWaitMs, AbortSignal.any([signal, changed.signal]));
    },
  };
};

export type LogNotifier = ReturnType<typeof createLogNotifier>;
