import type { Clock } from '@tartan/kube/clock';

/**
 * Until when nothing is tried again on a Mac, by machine. Memory of this process only: whoever starts anew may try once more, which is
 * harmless. On the monotonic clock.
 */
export interface Pauses {
  leftMs(uid: string): number;
  set(uid: string, milliseconds: number): void;
  forget(uid: string): void;
}

export const createPauses = (clock: Pick<Clock, 'monotonic'>): Pauses => {
  const until = new Map<string, number>();
  return {
    leftMs: (uid) => Math.max(0, (until.get(uid) ?? -Infinity) - clock.monotonic()),
    set: (uid, milliseconds) => {
      until.set(uid, clock.monotonic() + milliseconds);
    },
    forget: (uid) => {
      until.delete(uid);
    },
  };
};
