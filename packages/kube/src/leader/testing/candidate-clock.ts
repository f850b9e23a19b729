import type { Clock, ManualClock } from '../../clock/index.ts';

/** The clock of one process: may run fast or slow, be set, and hold back its timers while the process is frozen. */
export interface CandidateClock extends Clock {
  /** Runs no timer from now on, while time passes. */
  freeze(): void;
  /** Runs the timers that became due, one by one with all their consequences, as Node does. */
  thaw(): Promise<void>;
  readonly frozen: boolean;
  /** Sets the wall clock. */
  jump(milliseconds: number): void;
  /** The machine was suspended: the wall clock advanced, the monotonic clock did not. Call after the wake-up. */
  slept(milliseconds: number): void;
}

export const candidateClock = (sharedClock: ManualClock, speed = 1): CandidateClock => {
  let offset = 0;
  let asleep = 0;
  let frozen = false;
  let waiting: (() => void)[] = [];
  return {
    now: () => sharedClock.now() + offset,
    monotonic: () => sharedClock.monotonic() * speed - asleep,
    after: (milliseconds, run) => {
      let over = false;
      const once = (): void => {
        if (!over) run();
        over = true;
      };
      const cancelTimer = sharedClock.after(milliseconds / speed, () => (frozen ? void waiting.push(once) : once()));
      return () => {
        over = true;
        cancelTimer();
      };
    },
    freeze: () => {
      frozen = true;
    },
    thaw: async () => {
      frozen = false;
      const due = waiting;
      waiting = [];
      for (const run of due) {
        run();
        await new Promise((resolve) => setImmediate(resolve));
        // A zero-delay timer set by the last callback runs before the next due one.
        sharedClock.advance(0);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    get frozen() {
      return frozen;
    },
    jump: (milliseconds) => {
      offset += milliseconds;
    },
    slept: (milliseconds) => {
      asleep += milliseconds;
    },
  };
};
