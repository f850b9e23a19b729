import type { Clock } from '../clock/index.ts';
import { defaultElectionDurations } from './durations.ts';

/**
 * What every destructive act passes right before it happens. Answers how long the caller may rely on it: the act must carry a
 * deadline shorter than that. Throws when this process does not lead, or has not renewed its lease recently enough.
 */
export interface Gate {
  pass(): { remainingMs: number };
}

export class NotLeadingError extends Error {
  constructor(lease: string, why: string) {
    super(
      `Not done: this process does not lead (lease ${lease}): ${why}. Whoever leads will do it; nothing has to be done here.`,
    );
    this.name = 'NotLeadingError';
  }
}

/** The gate of one term of leadership. Once closed it stays closed: what is left over from an old term cannot use the next one. */
export interface TermGate extends Gate {
  /** A renewal that was sent at that moment has succeeded. */
  renewed(sent: Instant): void;
  close(why: string): void;
}

interface TermGateOptions {
  clock: Clock;
  renewDeadlineMs: number;
  /** For the error's text. */
  lease: string;
  /** When the write was sent that got the lease. */
  sent: Instant;
}

/**
 * Guarantees: at the moment `pass` answers, nobody else can have taken the lease over. Counted from when the last successful
 * renewal was *sent*: the others count from when they saw it, which is later, and they wait longer (lease > renew deadline).
 * Needs no timer: a process that was frozen is refused by its first look at the clock, whatever it does first when it thaws.
 * Caveats: says nothing about what happens after it answered; docs/leader-election.md tells what a freeze could do then.
 */
export const createTermGate = ({ clock, renewDeadlineMs, lease, sent }: TermGateOptions): TermGate => {
  let last = sent;
  let closed: string | undefined;
  return {
    pass: () => {
      if (closed !== undefined) throw new NotLeadingError(lease, closed);
      const elapsed = elapsedSince(clock, last);
      if (!(elapsed < renewDeadlineMs)) {
        throw new NotLeadingError(
          lease,
          `its last renewal was sent ${Math.round(elapsed)} ms ago, good for ${renewDeadlineMs} ms`,
        );
      }
      return { remainingMs: renewDeadlineMs - Math.max(0, elapsed) };
    },
    renewed: (renewal) => {
      last = renewal;
    },
    close: (why) => {
      closed ??= why;
    },
  };
};

/** For a manager that was told to be alone: it always leads, as if it had renewed a lease this very moment. */
export const alwaysOpenGate: Gate = { pass: () => ({ remainingMs: defaultElectionDurations.renewDeadlineMs }) };

/** A moment by both clocks. */
export interface Instant {
  monotonic: number;
  wall: number;
}

export const instant = (clock: Clock): Instant => ({ monotonic: clock.monotonic(), wall: clock.now() });

/**
 * The larger of what both clocks say has passed. Linux' monotonic clock stands still while the machine is suspended, the wall
 * clock does not; macOS' goes on. A wall clock that was set forward looks like a suspension: that errs on the safe side.
 */
const elapsedSince = (clock: Clock, since: Instant): number =>
  Math.max(clock.monotonic() - since.monotonic, clock.now() - since.wall);
