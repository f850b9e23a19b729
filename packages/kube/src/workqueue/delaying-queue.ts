import type { Clock } from '../clock/clock.ts';

/** Keys that are added later. */
interface DelayingQueue {
  /** Of two deadlines for one key the earlier stays. */
  put(key: string, milliseconds: number): void;
  clear(): void;
}

/** setTimeout counts in 31 bits and fires at once when given more. Longer waits are made of several. */
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
