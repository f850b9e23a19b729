import type { Clock } from '@tartan/kube/clock';

/** Time goes by as always, and leaps when it is told to: two minutes in which nothing happens need not be waited for. */
export interface AdjustableClock extends Clock {
  leap(milliseconds: number): void;
}

/** The longest that a timer of Node can be set to. */
const mostMs = 2 ** 31 - 1;

export const createAdjustableClock = (leaptMs: number): AdjustableClock => {
  let offset = leaptMs;
  const timers = new Set<{ readonly due: number; readonly run: () => void; handle: NodeJS.Timeout }>();
  const monotonic = (): number => performance.now() + offset;
  return {
    now: () => Date.now() + offset,
    monotonic,
    after: (milliseconds, run) => {
      const due = monotonic() + milliseconds;
      const fire = (): void => {
        timers.delete(timer);
        run();
      };
      const timer = { due, run: fire, handle: setTimeout(fire, Math.min(mostMs, milliseconds)) };
      timers.add(timer);
      return () => {
        clearTimeout(timer.handle);
        timers.delete(timer);
      };
    },
    leap: (milliseconds) => {
      offset += milliseconds;
      for (const timer of timers) {
        clearTimeout(timer.handle);
        timer.handle = setTimeout(timer.run, Math.min(mostMs, Math.max(0, timer.due - monotonic())));
      }
    },
  };
};
