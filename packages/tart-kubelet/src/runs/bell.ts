import type { Clock } from '@tartan/kube/clock';

/** Wakes the one who waits for it. Rung while nobody waits, it is heard by the next who does. */
export interface Bell {
  ring(): void;
  /** Whether it rang. False after that time, and when `signal` fires. */
  wait(milliseconds: number, signal: AbortSignal): Promise<boolean>;
}

export const createBell = (clock: Clock): Bell => {
  let rang = false;
  let wakeUp = (): void => {};
  return {
    ring: () => {
      rang = true;
      wakeUp();
    },
    wait: (milliseconds, signal) =>
      new Promise((resolve) => {
        const finish = (): void => {
          takeBack();
          signal.removeEventListener('abort', finish);
          wakeUp = () => {};
          resolve(rang);
          rang = false;
        };
        const takeBack = clock.after(milliseconds, finish);
        signal.addEventListener('abort', finish, { once: true });
        wakeUp = finish;
        if (rang || signal.aborted) finish();
      }),
  };
};
