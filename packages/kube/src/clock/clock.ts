/** Time, injected everywhere so that tests can skip it. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch: for timestamps. May jump forward or back. */
  now(): number;
  /** Milliseconds since an arbitrary moment: for measuring durations. Never goes back. */
  monotonic(): number;
  /** Calls `run` once, not before `milliseconds` have passed. The returned function cancels the timer. */
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

/** metav1.MicroTime: Go's parser requires exactly six fractional digits. */
export const microTimestamp = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 23)}000Z`;

/** Resolves after that time, or at once when `signal` fires. Never rejects: the caller checks the signal afterwards. */
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

/** Calls `run` with a signal that fires after that time or with `signal`. */
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
