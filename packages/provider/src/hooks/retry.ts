import { isKubeError } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';

export interface RetryOptions {
  readonly clock: Clock;
  /** Fires when there is no more time. */
  readonly signal: AbortSignal;
}

/** Between two looks at what the server is not done with, and before an attempt that may now go well. */
export const retryIntervalMs = 250;

const transientReasons = [
  'conflict',
  'alreadyExists',
  'notFound',
  'tooManyRequests',
  'timeout',
  'unreachable',
  'serverError',
] as const;

/** Again, from the beginning, after what may go well next time: another writer, a server that starts or is busy. */
export const retryTransient = async <T>({ clock, signal }: RetryOptions, attempt: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isKubeError(error, ...transientReasons) || signal.aborted) throw error;
      await sleep(clock, error.retryAfterMs ?? retryIntervalMs, signal);
      if (signal.aborted) throw error;
    }
  }
};
