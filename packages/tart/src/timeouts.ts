import type { Clock } from '@tartan/kube/clock';

/** How long a call may take. `start` begins to count and calls `over` once at most; what it returns ends the counting. */
export interface Timeout {
  start(clock: Clock, onTimeout: () => void): { progressed(): void; stop(): void };
  /** For the error text: `30 s`. */
  readonly description: string;
}

const formatDuration = (milliseconds: number): string =>
  milliseconds < 1000 ? `${milliseconds} ms` : `${Math.round(milliseconds / 1000)} s`;

/** The whole call within this time. */
export const deadline = (milliseconds: number): Timeout => ({
  description: `within ${formatDuration(milliseconds)}`,
  start: (clock, onTimeout) => ({ progressed: () => {}, stop: clock.after(milliseconds, onTimeout) }),
});

/**
 * As long as it likes, unless nothing moves for this time. What it writes is movement. Before giving up, `look` is asked for a
 * picture of what the call works on: a new percent of 70 GB can be further away than anybody waits for, while bytes arrive (INC-422).
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
