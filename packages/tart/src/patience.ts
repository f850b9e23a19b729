import type { Clock } from '@tartan/kube/clock';

/** How long a call may take. `start` begins to count and calls `over` once at most; what it returns ends the counting. */
export interface Patience {
  start(clock: Clock, over: () => void): { moved(): void; end(): void };
  /** For the error text: `30 s`. */
  readonly text: string;
}

const inWords = (milliseconds: number): string =>
  milliseconds < 1000 ? `${milliseconds} ms` : `${Math.round(milliseconds / 1000)} s`;

/** The whole call within this time. */
export const within = (milliseconds: number): Patience => ({
  text: `within ${inWords(milliseconds)}`,
  start: (clock, over) => ({ moved: () => {}, end: clock.after(milliseconds, over) }),
});

/**
 * As long as it likes, unless nothing moves for this time. What it writes is movement. Before giving up, `look` is asked for a
 * picture of what the call works on: a new percent of 70 GB can be further away than anybody waits for, while bytes arrive (G22).
 */
export const whileMoving = (milliseconds: number, look: () => Promise<string>): Patience => ({
  text: `and nothing moved for ${inWords(milliseconds)}`,
  start: (clock, over) => {
    let ended = false;
    let movements = 0;
    let takeBack = (): void => {};
    const wait = async (): Promise<void> => {
      const before = movements;
      const picture = await look();
      if (ended) return;
      takeBack = clock.after(milliseconds, () => void check(before, picture));
    };
    const check = async (before: number, picture: string): Promise<void> => {
      const moving = movements !== before || (await look()) !== picture;
      if (ended) return;
      if (moving) await wait();
      else over();
    };
    void wait();
    return {
      moved: () => {
        movements++;
      },
      end: () => {
        ended = true;
        takeBack();
      },
    };
  },
});
