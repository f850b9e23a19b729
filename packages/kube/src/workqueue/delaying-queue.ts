import type { Clock } from '../clock/clock.ts';

/** Adds keys after a delay. */
interface DelayingQueue {
  /** If a key has two deadlines, the earlier one wins. */
  put(key: string, milliseconds: number): void;
  clear(): void;
}

/** setTimeout has 31 bits and fires at once for longer delays. Longer waits use several timers. */
const maxTimerMs = 2 ** 31 - 1;

export const createDelayingQueue = (clock: Clock, due: (key: string) => void): DelayingQueue => {
  const timers = new Map<string, { at: number; cancel: () => void }>();

  const arm = (key: string, at: number): void => {
    const wait = Math.min(Math.max(at - clock.monotonic(), 0), maxTimerMs);
    timers.set(key, { at, cancel: clock.after(wait, () => fire(key, at)) });
  };
  /** Timers may fire a little early. */
  const fire = (key: string, at: number): void => {
    if (at > clock.monotonic()) return arm(key, at);
    timers.delete(key);
    due(key);
  };

  return {
    put: (key, milliseconds) => {
      const at = clock.monotonic() + milliseconds;
      const known = timers.get(key);
      if (known && known.at <= at) return;
      known?.cancel();
      arm(key, at);
    },
    clear: () => {
      for (const { cancel } of timers.values()) cancel();
      timers.clear();
    },
  };
};
