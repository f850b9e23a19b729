import type { Clock } from '@tartan/kube/clock';

/** Pending timers that can be cancelled together. */
export interface Timers {
  after(milliseconds: number, run: () => void): () => void;
  /** Resolves after that time, or when everything ends. */
  wait(milliseconds: number): Promise<void>;
  end(): void;
}

export const createTimers = (clock: Clock): Timers => {
  const pending = new Map<() => void, (() => void) | undefined>();
  let isEnded = false;
  const begin = (milliseconds: number, run: () => void, onEnd?: () => void): (() => void) => {
    if (isEnded) {
      onEnd?.();
      return () => undefined;
    }
    const cancel = clock.after(milliseconds, () => {
      pending.delete(cancel);
      run();
    });
    pending.set(cancel, onEnd);
    return () => {
      pending.delete(cancel);
      cancel();
    };
  };
  return {
    after: (milliseconds, run) => begin(milliseconds, run),
    wait: (milliseconds) => new Promise((resolve) => void begin(milliseconds, resolve, resolve)),
    end: () => {
      isEnded = true;
      for (const [takeBack, onEnd] of pending) {
        takeBack();
        onEnd?.();
      }
      pending.clear();
    },
  };
};
