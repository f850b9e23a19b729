/**
 * Pushes that are under way, so that they can be ended: whoever deletes a machine does not wait for what its Mac is being given. A push
 * may be cut anywhere, and the Mac is about to be wiped.
 */
export interface RunningPushes {
  /** `push` gets a signal that fires with `signal`, or when this very machine is being deleted, also if that was before. */
  run<T>(uid: string, signal: AbortSignal, push: (signal: AbortSignal) => Promise<T>): Promise<T>;
  end(uid: string): void;
  /** The machine is gone. */
  forget(uid: string): void;
}

const deletion = new Error('the machine is being deleted');

export const createRunningPushes = (): RunningPushes => {
  const running = new Map<string, AbortController>();
  const deleted = new Set<string>();
  return {
    run: async (uid, signal, push) => {
      const controller = new AbortController();
      running.set(uid, controller);
      if (deleted.has(uid)) controller.abort(deletion);
      try {
        return await push(AbortSignal.any([signal, controller.signal]));
      } finally {
        running.delete(uid);
      }
    },
    end: (uid) => {
      deleted.add(uid);
      running.get(uid)?.abort(deletion);
    },
    forget: (uid) => {
      deleted.delete(uid);
    },
  };
};
