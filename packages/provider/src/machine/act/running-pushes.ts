/**
 * How many Macs are worked on at a time: memory and network of the manager are sized by it (INC-11). There are more workers than slots, so
 * that a machine that only has to be looked at, or deleted, does not wait for pushes.
 */
export const createPushSlots = (limit: number) => {
  let taken = 0;
  return {
    /** Undefined when all are taken. The function gives it back; more than once is once. */
    acquire: (): (() => void) | undefined => {
      if (taken >= limit) return undefined;
      taken += 1;
      let released = false;
      return () => {
        if (!released) taken -= 1;
        released = true;
      };
    },
  };
};

export type PushSlots = ReturnType<typeof createPushSlots>;

const deletionError = new Error('the machine is being deleted');
const pauseError = new Error('the machine is paused');

/**
 * Pushes that are under way, so that they can be ended: whoever deletes or pauses a machine does not wait for what its Mac is being given.
 * A push may be cut anywhere: the Mac is about to be wiped, or the next push goes on from there.
 */
export const createRunningPushes = () => {
  const running = new Map<string, AbortController>();
  const deleted = new Set<string>();
  const paused = new Set<string>();
  return {
    /** `push` gets a signal that fires with `signal`, or when this very machine is being deleted or paused, also if that was before. */
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
    /** The machine is being deleted. */
    cancel: (uid: string): void => {
      deleted.add(uid);
      running.get(uid)?.abort(deletionError);
    },
    setPaused: (uid: string, isPaused: boolean): void => {
      if (!isPaused) return void paused.delete(uid);
      paused.add(uid);
      running.get(uid)?.abort(pauseError);
    },
    /** The machine is gone. */
    forget: (uid: string): void => {
      deleted.delete(uid);
      paused.delete(uid);
    },
  };
};

export type RunningPushes = ReturnType<typeof createRunningPushes>;
