import type { Clock } from '@tartan/kube/clock';

/** The time limit of a call. `start` starts the timer and calls `onTimeout` at most once; its result stops it. */
export interface Timeout {
  start(clock: Clock, onTimeout: () => void): { progressed(): void; stop(): void };
  /** For the error message: `30 s`. */
  readonly description: string;
}

const formatDuration = (milliseconds: number): string =>
  milliseconds < 1000 ? `${milliseconds} ms` : `${Math.round(milliseconds / 1000)} s`;

/** Limits the whole call. */
export const deadline = (milliseconds: number): Timeout => ({
  description: `within ${formatDuration(milliseconds)}`,
  start: (clock, onTimeout) => ({ progressed: () => {}, stop: clock.after(milliseconds, onTimeout) }),
});

/**
 * No limit while there is progress. Output is progress. Before it times out it compares `snapshot`: one percent of 70 GB can take
 * longer than the timeout while bytes arrive (INC-422).
 */
export const stallTimeout = (milliseconds: number, snapshot: () => Promise<string>): Timeout => ({
  description: `and nothing moved for ${formatDuration(milliseconds)}`,
  start: (clock, onTimeout) => {
    let ended = false;
    let progressCount = 0;
    let cancelTimer = (): void => {};
    const wait = async (): Promise<void> => {
      const before = progressCount;
      const lastSnapshot = await snapshot();
      if (ended) return;
      cancelTimer = clock.after(milliseconds, () => void check(before, lastSnapshot));
    };
    const check = async (before: number, picture: string): Promise<void> => {
      const moving = progressCount !== before || (await snapshot()) !== picture;
      if (ended) return;
      if (moving) await wait();
      else onTimeout();
    };
    void wait();
    return {
      progressed: () => {
        progressCount++;
      },
      stop: () => {
        ended = true;
        cancelTimer();
      },
    };
  },
});
