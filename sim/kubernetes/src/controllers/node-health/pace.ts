import type { Clock } from '@tartan/kube/clock';

export interface Pace {
  setRate(perSecond: number): void;
  /** Whether one may go now. */
  take(): boolean;
}

/** One at a time, so many per second. A new rate counts from the moment it is set if nobody could go at the old one. */
export const pace = (clock: Clock): Pace => {
  const now = (): number => clock.now();
  let rate = 0;
  let nextAt = Number.NEGATIVE_INFINITY;
  let started = false;
  return {
    setRate: (perSecond) => {
      if (perSecond === rate) return;
      const held = started && (rate === 0 || nextAt > now());
      rate = perSecond;
      started = true;
      nextAt = held && rate > 0 ? now() + 1000 / rate : now();
    },
    take: () => {
      if (rate === 0 || now() < nextAt) return false;
      nextAt = now() + 1000 / rate;
      return true;
    },
  };
};
