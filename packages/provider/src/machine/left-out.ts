import type { MachineStatus } from '@tartan/api';

/**
 * What the Mac counts as having. Steps that may fail cost only themselves: a Mac without one of them is as good as up to date, so that
 * neither its turn nor the roll of its fleet waits for it. After a while, or when something else is wanted, it is tried again.
 */
export const countsAs = (
  actual: string | undefined,
  { desired, leftOut, now, retryAfterMs }: Tolerance,
): string | undefined => {
  const tolerated =
    leftOut !== undefined &&
    leftOut.actual === actual &&
    leftOut.desired === desired &&
    // A time that is none is long ago.
    now < Date.parse(leftOut.at) + (retryAfterMs ?? Infinity);
  return tolerated ? desired : actual;
};

export interface Tolerance {
  readonly desired: string | undefined;
  readonly leftOut: MachineStatus['leftOut'];
  readonly now: number;
  /** Undefined: never tried again. */
  readonly retryAfterMs: number | undefined;
}
