import type { Clock } from '../clock/clock.ts';

/** Notices when nothing has been heard for `limitMs`. */
export interface SilenceGuard {
  /** Something came. */
  heard(): void;
  stop(): void;
}

/** Calls `onSilence` once. Hearing costs a look at the clock and no timer: the one timer re-arms itself for what is left. */
export const guardSilence = (clock: Clock, limitMs: number, onSilence: () => void): SilenceGuard => {
  let heardAt = clock.monotonic();
  const look = (): void => {
    const left = limitMs - (clock.monotonic() - heardAt);
    if (left <= 0) onSilence();
    else takeBack = clock.after(left, look);
  };
  let takeBack = clock.after(limitMs, look);
  return {
    heard: () => {
      heardAt = clock.monotonic();
    },
    stop: () => takeBack(),
  };
};
