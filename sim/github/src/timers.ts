import type { Clock } from '@tartan/kube/clock';

/** What is still to come, so that it can be called off all at once. */
export interface Timers {
  after(milliseconds: number, run: () => void): () => void;
  /** Resolves after that time, or when everything ends. */
  wait(milliseconds: number): Promise<void>;
  end(): void;
}

export const createTimers = (clock: Clock): Timers => {
  const pending = new Map<() => void, (() => void) | undefined>();
  let isOver = false;
  const begin = (milliseconds: number, run: () => void, onEnd?: () => void): (() => void) => {
    if (isOver) {
      onEnd?.();
      return () => undefined;
    }
    const takeBack = clock.after(milliseconds, () => {
      pending.delete(takeBack);
      run();
    });
    pending.set(takeBack, onEnd);
    return () => {
      pending.delete(takeBack);
      takeBack();
    };
  };
  return {
    after: (milliseconds, run) => begin(milliseconds, run),
    wait: (milliseconds) => new Promise((resolve) => void begin(milliseconds, resolve, resolve)),
    end: () => {
      isOver = true;
      for (const [takeBack, onEnd] of pending) {
        takeBack();
        onEnd?.();
      }
      pending.clear();
    },
  };
};
