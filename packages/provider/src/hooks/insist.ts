import { isKubeError } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';

export interface Patience {
  readonly clock: Clock;
  /** Fires when there is no more time. */
  readonly signal: AbortSignal;
}

/** Between two looks at what the server is not done with, and before an attempt that may now go well. */
export const pauseMs = 250;

const passing = [
  'conflict',
  'alreadyExists',
  'notFound',
  'tooManyRequests',
  'timeout',
  'unreachable',
  'serverError',
] as const;

/** Again, from the beginning, after what may go well next time: another writer, a server that starts or is busy. */
export const insist = async <T>({ clock, signal }: Patience, attempt: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isKubeError(error, ...passing) || signal.aborted) throw error;
      await sleep(clock, error.retryAfterMs ?? pauseMs, signal);
      if (signal.aborted) throw error;
    }
  }
};
