import type { Clock } from './clock.ts';

/** Resolves after that time, or at once when `signal` fires. Never rejects: whoever waits looks at the signal afterwards. */
export const sleep = (clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const finish = (): void => {
      takeBack();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const takeBack = clock.after(milliseconds, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
