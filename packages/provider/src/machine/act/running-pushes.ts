/**
 * Limits how many Macs are worked on at a time: memory and network of the manager are sized by it (INC-11). There are more workers than
 * slots, so that other reconciles, such as deletions, do not wait for pushes.
 */
export const createPushSlots = (limit: number) => {
  let taken = 0;
  /** In the order of their first request. */
  const waiting = new Set<string>();
  const subscribers = new Set<(key: string) => void>();
  const wakeNext = (): void => {
    const [next] = waiting;
    if (next === undefined) return;
    waiting.delete(next);
    for (const wake of subscribers) wake(next);
  };
  return {
    /** Undefined if all are taken: `key` waits for a free one. The returned function releases the slot and is idempotent. */
    acquire: (key: string): (() => void) | undefined => {
      if (taken >= limit) {
        waiting.add(key);
        return undefined;
      }
      waiting.delete(key);
      taken += 1;
      let released = false;
      return () => {
        if (released) return;
        released = true;
        taken -= 1;
        wakeNext();
      };
    },
    /** `wake` gets the key that has waited longest, for each slot that becomes free. Returns how to unsubscribe. */
    subscribe: (wake: (key: string) => void): (() => void) => {
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
