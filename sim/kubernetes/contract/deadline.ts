import { setTimeout as delay } from 'node:timers/promises';

/** Waiting that ends, one way or the other. */
export interface Deadline {
  /** `work`, or an error that says what was waited for. */
  within<T>(work: Promise<T>, what: () => string): Promise<T>;
  /** Asks again and again until there is an answer. For what cannot be watched, such as discovery. */
  eventually<T>(what: string, ask: () => Promise<T | undefined>): Promise<T>;
}

export const deadline = (milliseconds: number): Deadline => ({
  within: async (work, what) => {
    const over = new AbortController();
    const late = delay(milliseconds, undefined, { signal: over.signal }).then(() => {
      throw new Error(`Waited ${milliseconds / 1000} s for ${what()}`);
    });
    late.catch(() => undefined);
    try {
      return await Promise.race([work, late]);
    } finally {
      over.abort();
    }
  },
  eventually: async (what, ask) => {
    const until = Date.now() + milliseconds;
    for (;;) {
      const answer = await ask();
      if (answer !== undefined) return answer;
      if (Date.now() > until) throw new Error(`Asked for ${milliseconds / 1000} s for ${what}`);
      await delay(20);
    }
  },
});
