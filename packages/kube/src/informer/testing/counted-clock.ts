import { type ManualClock, manualClock } from '../../clock/manual-clock.ts';

/** A manual clock that counts pending timers. */
export const countedClock = (): ManualClock & { readonly timers: number } => {
  const clock = manualClock();
  const waiting = new Set<object>();
  return {
    ...clock,
    get timers() {
      return waiting.size;
    },
    after: (milliseconds, run) => {
      const timer = {};
      waiting.add(timer);
      const cancelTimer = clock.after(milliseconds, () => {
        waiting.delete(timer);
        run();
      });
      return () => {
        waiting.delete(timer);
        cancelTimer();
      };
    },
  };
};
