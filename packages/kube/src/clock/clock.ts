/** Time, injected everywhere, so that a test can let an hour pass in a microsecond. */
export interface Clock {
  /** Milliseconds since the epoch: for time stamps. Somebody may set it forward or back. */
  now(): number;
  /** Milliseconds since some moment: for measuring. Never goes back. */
  monotonic(): number;
  /** Calls `run` once, not before `milliseconds` have passed. The returned function takes that back. */
  after(milliseconds: number, run: () => void): () => void;
}

/** Uniform in [0, 1). */
export type Random = () => number;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** metav1.Time: whole seconds, UTC. */
export const timestamp = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

/** metav1.MicroTime: exactly six digits, which Go's parser insists on. */
export const microTimestamp = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 23)}000Z`;

/** Resolves after that time, or at once when `signal` fires. Never rejects: whoever waits looks at the signal afterwards. */
export const sleep = (clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = (): void => {
      cancelTimer();
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const cancelTimer = clock.after(milliseconds, finish);
    signal?.addEventListener('abort', finish, { once: true });
  });

/** Calls `run` with a signal that fires after that time, or with `signal`. */
export const withTimeout = async <T>(
  clock: Clock,
  milliseconds: number,
  run: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => {
  const timeout = new AbortController();
  const cancelTimer = clock.after(milliseconds, () =>
    timeout.abort(new DOMException(`No answer within ${milliseconds} ms`, 'TimeoutError')),
  );
  try {
    return await run(AbortSignal.any([timeout.signal, ...(signal ? [signal] : [])]));
  } finally {
    cancelTimer();
  }
};
