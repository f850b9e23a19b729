import type { Clock } from '@tartan/kube/clock';

/** Tells readers that follow a log of new lines in it. Writers and readers are in the same process. */
export interface LogNotifier {
  notify(path: string): void;
  /** How often a log has changed so far, to be read before looking at it. */
  version(path: string): number;
  /** Resolves when there have been more changes than `seen`, when `signal` fires, or after a while in any case. */
  wait(path: string, seen: number, signal: AbortSignal): Promise<void>;
  /** Forgets a log that nobody writes any more; whoever waits for it looks again. */
  forget(path: string): void;
}

/** Nobody should rely on it: for writers that died without a word. */
const maxWaitMs = 5_000;

export const createLogNotifier = (clock: Clock): LogNotifier => {
  const counts = new Map<string, number>();
  const waiting = new Map<string, Set<() => void>>();
  const wake = (path: string): void => {
    for (const resume of waiting.get(path) ?? []) resume();
  };
  const version = (path: string): number => counts.get(path) ?? 0;
  return {
    version,
    notify: (path) => {
      counts.set(path, version(path) + 1);
      wake(path);
    },
    wait: (path, seen, signal) =>
      new Promise((resolve) => {
        if (signal.aborted || version(path) !== seen) return resolve();
        const here = waiting.get(path) ?? new Set();
        waiting.set(path, here);
        const resume = (): void => {
          here.delete(resume);
          if (here.size === 0 && waiting.get(path) === here) waiting.delete(path);
          cancelTimer();
          signal.removeEventListener('abort', resume);
          resolve();
        };
        const cancelTimer = clock.after(maxWaitMs, resume);
        here.add(resume);
        signal.addEventListener('abort', resume, { once: true });
      }),
    forget: (path) => {
      counts.delete(path);
      wake(path);
    },
  };
};
