/**
 * Limits how many Macs are worked on at a time: memory and network of the manager are sized by it (INC-11). There are more workers than
 * slots, so that other reconciles, such as deletions, do not wait for pushes.
 * Guarantees: a free slot wakes the machine that has waited longest, and is kept for it until its pass has ended. If that machine did not
 * need it, the next one is woken.
 */
export const createPushSlots = (limit: number) => {
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
    /** Call it after every pass of a machine, also after one that failed. */
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

export type PushSlots = ReturnType<typeof createPushSlots>;

const deletionError = new Error('the machine is being deleted');
const pauseError = new Error('the machine is paused');

/**
 * Pushes in progress, so that deleting or pausing a machine aborts its push instead of waiting for it. A push may be aborted at any point:
 * the Mac is about to be wiped, or the next push continues from there.
 */
export const createRunningPushes = () => {
  const running = new Map<string, AbortController>();
  const deleted = new Set<string>();
  const paused = new Set<string>();
  return {
    /** `push` gets a signal that aborts with `signal`, or when this machine is deleted or paused, also if that was before. */
    run: async <T>(uid: string, signal: AbortSignal, push: (signal: AbortSignal) => Promise<T>): Promise<T> => {
      const controller = new AbortController();
      running.set(uid, controller);
      if (deleted.has(uid)) controller.abort(deletionError);
      if (paused.has(uid)) controller.abort(pauseError);
      try {
        return await push(AbortSignal.any([signal, controller.signal]));
      } finally {
        running.delete(uid);
      }
    },
    cancel: (uid: string): void => {
      deleted.add(uid);
      running.get(uid)?.abort(deletionError);
    },
    setPaused: (uid: string, isPaused: boolean): void => {
      if (!isPaused) return void paused.delete(uid);
      paused.add(uid);
      running.get(uid)?.abort(pauseError);
    },
    forget: (uid: string): void => {
      deleted.delete(uid);
      paused.delete(uid);
    },
  };
};

export type RunningPushes = ReturnType<typeof createRunningPushes>;
