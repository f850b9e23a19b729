import type { Clock } from '@tartan/kube/clock';

/** The time of day, with a way to let more of it pass than does: what waits for five minutes is not waited for. */
export const adjustableClock = (): Clock & { jump(milliseconds: number): void } => {
  let ahead = 0;
  const waiting = new Set<{ due: number; timer: NodeJS.Timeout | undefined; run: () => void }>();
  const monotonic = (): number => performance.now() + ahead;
  const arm = (entry: { due: number; timer: NodeJS.Timeout | undefined; run: () => void }): void => {
    clearTimeout(entry.timer);
    entry.timer = setTimeout(entry.run, Math.max(0, entry.due - monotonic()));
  };
  return {
    now: () => Date.now() + ahead,
    monotonic,
    after: (milliseconds, run) => {
      const entry = {
        due: monotonic() + milliseconds,
        timer: undefined,
        run: () => {
          waiting.delete(entry);
          run();
        },
      };
      waiting.add(entry);
      arm(entry);
      return () => {
        waiting.delete(entry);
        clearTimeout(entry.timer);
      };
    },
    jump: (milliseconds) => {
      ahead += milliseconds;
      for (const entry of waiting) arm(entry);
    },
  };
};
