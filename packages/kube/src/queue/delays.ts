import type { Clock } from '../clock/clock.ts';
import { createDeadlineHeap } from './deadline-heap.ts';

/** Keys that are to come later. However many there are, one timer runs: for the one that is due first. */
export interface Delays {
  put(key: string, milliseconds: number): void;
  clear(): void;
  readonly size: number;
}

/** setTimeout counts in 31 bits and fires at once when given more. Longer waits are made of several. */
const longestTimer = 2 ** 31 - 1;

export const createDelays = (clock: Clock, due: (key: string) => void): Delays => {
  const deadlines = createDeadlineHeap();
  let timer: { at: number; takeBack: () => void } | undefined;

  const disarm = (): void => {
    timer?.takeBack();
    timer = undefined;
  };
  const arm = (): void => {
    const first = deadlines.first();
    if (!first) return disarm();
    if (timer && timer.at <= first.at) return;
    disarm();
    const wait = Math.min(Math.max(first.at - clock.monotonic(), 0), longestTimer);
    timer = { at: first.at, takeBack: clock.after(wait, ring) };
  };
  /** Timers may fire a little early: only what is really due is let go, the rest is waited for again. */
  const ring = (): void => {
    timer = undefined;
    const now = clock.monotonic();
    for (let first = deadlines.first(); first && first.at <= now; first = deadlines.first()) {
      deadlines.take();
      due(first.key);
    }
    arm();
  };

  return {
    put: (key, milliseconds) => {
      deadlines.put(key, clock.monotonic() + milliseconds);
      arm();
    },
    clear: () => {
      deadlines.clear();
      disarm();
    },
    get size() {
      return deadlines.size;
    },
  };
};
