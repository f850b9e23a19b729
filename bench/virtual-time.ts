import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@tartan/kube/clock';

/** Time that jumps to the next timer whenever everything that needs no time has happened. */
export interface VirtualTime extends Clock {
  /** Time stands still during a request. */
  during<T>(request: () => Promise<T>): Promise<T>;
  pass(forMs: number): Promise<void>;
}

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** Promises need no turn of the event loop, streams of requests and answers one or two. */
const calmTurns = 2;

export const virtualTime = (start: number): VirtualTime => {
  let now = start;
  let inFlight = 0;
  let begun = 0;
  const timers = new Set<Timer>();
  const next = (): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) if (first === undefined || timer.at < first.at) first = timer;
    return first;
  };
  const calm = async (): Promise<void> => {
    for (let turns = 0, seen = begun; turns < calmTurns; turns += 1) {
      await setImmediate();
      if (inFlight > 0 || begun !== seen) turns = -1;
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
    during: async (request) => {
      inFlight += 1;
      begun += 1;
      try {
        return await request();
      } finally {
        inFlight -= 1;
      }
    },
    pass: async (forMs) => {
      const end = now + forMs;
      for (;;) {
        await calm();
        const timer = next();
        if (timer === undefined || timer.at > end) break;
        now = Math.max(now, timer.at);
        timers.delete(timer);
        timer.run();
      }
      now = end;
    },
  };
};
