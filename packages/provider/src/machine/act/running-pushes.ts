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
