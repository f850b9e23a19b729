import type { Clock } from '@tartan/kube/clock';

/**
 * Since when GitHub says nothing about the runner of a machine, and what it said last. Memory of this process only: whoever starts anew
 * counts from zero, so that a restart can make somebody wait longer and never shorter. On the monotonic clock.
 */
export interface Silences {
  heard(uid: string, isBusy: boolean): void;
  /** For how long, and whether it had a job before. The first call starts the count. */
  silent(uid: string): { readonly forMs: number; readonly wasBusy: boolean };
  forget(uid: string): void;
}

export const createSilences = (clock: Pick<Clock, 'monotonic'>): Silences => {
  const known = new Map<string, { readonly isBusy: boolean; since: number | undefined }>();
  return {
    heard: (uid, isBusy) => {
      known.set(uid, { isBusy, since: undefined });
    },
    silent: (uid) => {
      const now = clock.monotonic();
      const { isBusy, since = now } = known.get(uid) ?? { isBusy: false, since: undefined };
      known.set(uid, { isBusy, since });
      return { forMs: now - since, wasBusy: isBusy };
    },
    forget: (uid) => {
      known.delete(uid);
    },
  };
};
