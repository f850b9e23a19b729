/**
 * Pushes that are under way, so that they can be ended: whoever deletes or pauses a machine does not wait for what its Mac is being given.
 * A push may be cut anywhere: the Mac is about to be wiped, or the next push goes on from there.
 */
export interface RunningPushes {
  /** `push` gets a signal that fires with `signal`, or when this very machine is being deleted or paused, also if that was before. */
  run<T>(uid: string, signal: AbortSignal, push: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** The machine is being deleted. */
  end(uid: string): void;
  setPaused(uid: string, paused: boolean): void;
  /** The machine is gone. */
  forget(uid: string): void;
}

const deletion = new Error('the machine is being deleted');
const pause = new Error('the machine is paused');

export const createRunningPushes = (): RunningPushes => {
  const running = new Map<string, AbortController>();
  const deleted = new Set<string>();
  const paused = new Set<string>();
  return {
    run: async (uid, signal, push) => {
      const controller = new AbortController();
      running.set(uid, controller);
      if (deleted.has(uid)) controller.abort(deletion);
      if (paused.has(uid)) controller.abort(pause);
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
    setPaused: (uid, isPaused) => {
      if (!isPaused) return void paused.delete(uid);
      paused.add(uid);
      running.get(uid)?.abort(pause);
    },
    forget: (uid) => {
      deleted.delete(uid);
      paused.delete(uid);
    },
  };
};
