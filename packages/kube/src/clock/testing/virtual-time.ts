import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../clock.ts';

/** Tracks requests in this process, to detect when there are none. */
export interface Traffic {
  /** A request from its start to its answer. */
  during<T>(work: () => Promise<T>): Promise<T>;
}

/** Time that jumps to the next timer whenever everything that needs no time has happened. */
export interface VirtualTime extends Clock, Traffic {
  /** Runs until `isOver` returns true, or for that long. Returns whether it did. `isOver` is checked before each jump. */
  pass(forMs: number, isOver?: () => boolean): Promise<boolean>;
}

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** So many turns of the event loop without anything new: promises need none, streams of requests and answers one or two. */
const calmTurns = 2;

export const virtualTime = (start: number): VirtualTime => {
  let now = start;
  let underWay = 0;
  let begun = 0;
  const timers = new Set<Timer>();

  /** Insertion order decides between timers of the same time. */
  const next = (): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) if (first === undefined || timer.at < first.at) first = timer;
    return first;
  };
  const calm = async (): Promise<void> => {
    for (let turns = 0, seen = begun; turns < calmTurns; turns += 1) {
      await setImmediate();
      if (underWay > 0 || begun !== seen) turns = -1;
      seen = begun;
    }
  };

  return {
    now: () => now,
    monotonic: () => now - start,
    after: (milliseconds, run) => {
      const timer = { at: now + Math.max(0, milliseconds), run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    during: async (work) => {
      underWay += 1;
      begun += 1;
      try {
        return await work();
      } finally {
        underWay -= 1;
      }
    },
    pass: async (forMs, isOver = () => false) => {
      const end = now + forMs;
      for (;;) {
        await calm();
        if (isOver()) return true;
        const timer = next();
        if (timer === undefined || timer.at > end) break;
        now = Math.max(now, timer.at);
        timers.delete(timer);
        timer.run();
      }
      now = end;
      return false;
    },
  };
};

/** The same numbers for the same seed (mulberry32), in [0, 1). */
export const numbersFrom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** UUIDs in order of creation: `…-000000000001`. */
export const orderedIDs = (kind: number): (() => string) => {
  let made = 0;
  return () => {
    made += 1;
    return `${String(kind).padStart(8, '0')}-0000-4000-8000-${String(made).padStart(12, '0')}`;
  };
};
