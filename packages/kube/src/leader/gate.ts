import type { Clock } from '../clock/index.ts';
import { defaultElectionDurations } from './durations.ts';

/**
 * Checked immediately before every destructive call. Returns how long the result is valid: the call must have a shorter
 * deadline. Throws when this process does not lead, or has not renewed its lease recently enough.
 */
export interface Gate {
  pass(): { remainingMs: number };
}

export class NotLeadingError extends Error {
  constructor(lease: string, why: string) {
    super(
      `Not done: this process does not lead (lease ${lease}): ${why}. The leader will do it; no action is needed here.`,
    );
    this.name = 'NotLeadingError';
  }
}

/** The gate of one term of leadership. Once closed it stays closed, so that work left over from an old term fails in the next one. */
export interface TermGate extends Gate {
  /** Call after a renewal succeeded that was sent at that moment. */
  renewed(sent: Instant): void;
  close(why: string): void;
}

interface TermGateOptions {
  clock: Clock;
  renewDeadlineMs: number;
  /** For the error message. */
  lease: string;
  /** When the write that acquired the lease was sent. */
  sent: Instant;
}

/**
 * Guarantees: when `pass` returns, no other candidate can have acquired the lease. The time counts from when the last
 * successful renewal was *sent*: the others count from when they saw it, which is later, and they wait longer (lease > renew
 * deadline).
 * Needs no timer: `pass` reads the clock, so a process that was frozen fails its first check.
 * Caveats: says nothing about the time after `pass` returned; docs/leader-election.md describes what a freeze could do then.
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

/** For a manager without leader election: always leads, as if it had just renewed a lease. */
export const alwaysOpenGate: Gate = { pass: () => ({ remainingMs: defaultElectionDurations.renewDeadlineMs }) };

/** A moment on both clocks. */
export interface Instant {
  monotonic: number;
  wall: number;
}

export const instant = (clock: Clock): Instant => ({ monotonic: clock.monotonic(), wall: clock.now() });

/**
 * The longer of the two elapsed times. Linux' monotonic clock stops while the machine is suspended, the wall clock does not;
 * macOS' monotonic clock continues. A wall clock set forward looks like a suspension, which errs on the safe side.
 */
const elapsedSince = (clock: Clock, since: Instant): number =>
  Math.max(clock.monotonic() - since.monotonic, clock.now() - since.wall);
