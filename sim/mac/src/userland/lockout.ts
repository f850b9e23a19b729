import type { Clock } from '@tartan/kube/clock';

/** Wrong passwords lock an account for a while (INC-207). Both figures are ours: Apple documents none. */
export const failuresThatLock = 5;
export const unlocksAfter = 10 * 60_000;

/** The tally that opendirectory keeps of one account. */
export interface Lockout {
  isLocked(): boolean;
  /** Also while locked: every attempt starts the wait anew (INC-207). */
  failed(): void;
  succeeded(): void;
}

export const createLockout = (clock: Clock): Lockout => {
  let failures = 0;
  let lastAttempt = 0;
  const decay = (): void => {
    if (failures > 0 && clock.monotonic() - lastAttempt >= unlocksAfter) failures = 0;
  };
  return {
    isLocked: () => {
      decay();
      return failures >= failuresThatLock;
    },
    failed: () => {
      decay();
      failures += 1;
      lastAttempt = clock.monotonic();
    },
    succeeded: () => {
      failures = 0;
    },
  };
};
