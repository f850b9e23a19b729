import { type Clock, sleep } from '@tartan/kube/clock';

/** Tells readers that follow logs of new lines. Writers and readers are in the same process. */
export interface LogNotifier {
  /** Some log has changed. */
  notify(): void;
  /** How often logs have changed so far, to be read before reading a log. */
  version(): number;
  /** Resolves when there have been more changes than `seen`, when `signal` fires, or after a while in any case. */
  wait(seen: number, signal: AbortSignal): Promise<void>;
}

/** For writers that ended without a notification. */
const maxWaitMs = 5_000;

export const createLogNotifier = (clock: Clock): LogNotifier => {
  let version = 0;
  let changed = new AbortController();
  return {
    version: () => version,
    notify: () => {
      version += 1;
      changed.abort();
      changed = new AbortController();
    },
    wait: async (seen, signal) => {
      if (version === seen) await sleep(clock, maxWaitMs, AbortSignal.any([signal, changed.signal]));
    },
  };
};
