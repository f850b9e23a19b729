import type { Clock } from './clock.ts';

/** A clock that moves only by `advance`. */
export interface ManualClock extends Clock {
  /** Moves time forward and runs due timers in order, including timers set meanwhile. */
  advance(milliseconds: number): void;
}

interface Entry {
  at: number;
  order: number;
  run: () => void;
}

export const manualClock = (start = Date.parse('2026-01-01T00:00:00Z')): ManualClock => {
  let now = start;
  let order = 0;
  const entries = new Set<Entry>();
  const nextDue = (until: number): Entry | undefined =>
    [...entries].filter((entry) => entry.at <= until).sort((a, b) => a.at - b.at || a.order - b.order)[0];
  return {
    now: () => now,
    monotonic: () => now - start,
    after: (milliseconds, run) => {
      const entry = { at: now + Math.max(0, milliseconds), order: order++, run };
      entries.add(entry);
      return () => entries.delete(entry);
    },
    advance: (milliseconds) => {
      const until = now + milliseconds;
      for (let entry = nextDue(until); entry; entry = nextDue(until)) {
        entries.delete(entry);
        now = Math.max(now, entry.at);
        entry.run();
      }
      now = until;
    },
  };
};
