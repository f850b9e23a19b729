/**
 * Workers of a controller with slots. A worker is only a promise: what limits a pass are slots, and the limits of the client. With this many,
 * no pass waits for a worker, so other passes, such as deletions, do not wait for those that do; and the metrics of each limit tell which
 * one holds passes back.
 */
export const workersBesideSlots = 512;

/**
 * Limits how many passes of a controller do something slow or scarce at a time.
 * Guarantees: a free slot wakes the key that has waited longest, and is kept for it until its pass has ended. If that pass did not
 * need it, the next one is woken.
 */
export const createSlots = (limit: number) => {
  let taken = 0;
  /** In the order of their first request. */
  const waiting = new Set<string>();
  /** A slot is kept for each of them. */
  const woken = new Set<string>();
  const subscribers = new Set<(key: string) => void>();
  const wakeNext = (): void => {
    const [next] = waiting;
    if (next === undefined || taken + woken.size >= limit) return;
    waiting.delete(next);
    woken.add(next);
    for (const wake of subscribers) wake(next);
  };
  /** Whether no slot is free for `key`, which then waits for one. */
  const mustWait = (key: string): boolean => {
    if (woken.has(key) || taken + woken.size < limit) return false;
    waiting.add(key);
    return true;
  };
  return {
    mustWait,
    /** Undefined if all are taken: `key` waits for a free one. The returned function releases the slot and is idempotent. */
    acquire: (key: string): (() => void) | undefined => {
      if (mustWait(key)) return undefined;
      waiting.delete(key);
      woken.delete(key);
      taken += 1;
      let released = false;
      return () => {
        if (released) return;
        released = true;
        taken -= 1;
        wakeNext();
      };
    },
    /** Call it after every pass, also after one that failed. */
    passEnded: (key: string): void => {
      if (woken.delete(key)) wakeNext();
    },
    /**
     * `wake` gets the key that has waited longest, for each slot that becomes free. Forgets who waited before: they may never be reconciled.
     * Returns how to unsubscribe.
     */
    subscribe: (wake: (key: string) => void): (() => void) => {
      for (const memory of [waiting, woken]) memory.clear();
      subscribers.add(wake);
      return () => void subscribers.delete(wake);
    },
    forget: (key: string): unknown => waiting.delete(key),
  };
};
