import type { Clock } from '../clock/index.ts';

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
export const elapsedSince = (clock: Clock, since: Instant): number =>
  Math.max(clock.monotonic() - since.monotonic, clock.now() - since.wall);
