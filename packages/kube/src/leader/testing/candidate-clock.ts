import type { Clock, ManualClock } from '../../clock/index.ts';

/** The clock of one process in a world: it may run fast or slow, be set, and stand before closed doors while frozen. */
export interface CandidateClock extends Clock {
  /** From now on nothing runs, though time goes on. */
  freeze(): void;
  /** What fell due meanwhile runs now, one after the other with all that follows from each, as in Node. */
  thaw(): Promise<void>;
  readonly frozen: boolean;
  /** Sets the wall clock. */
  jump(milliseconds: number): void;
  /** The machine sleeps: the wall clock goes on, the monotonic one does not. Call when it has awoken. */
  slept(milliseconds: number): void;
}

export const candidateClock = (world: ManualClock, speed = 1): CandidateClock => {
  let offset = 0;
  let asleep = 0;
  let frozen = false;
  let waiting: (() => void)[] = [];
  return {
    now: () => world.now() + offset,
    monotonic: () => world.monotonic() * speed - asleep,
    after: (milliseconds, run) => {
      let over = false;
      const once = (): void => {
        if (!over) run();
        over = true;
      };
      const takeBack = world.after(milliseconds / speed, () => (frozen ? void waiting.push(once) : once()));
      return () => {
        over = true;
        takeBack();
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
        // A timer of no time that was set by what has just run comes before the next that is due.
        world.advance(0);
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
