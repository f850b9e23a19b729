import type { Clock } from './clock/clock.ts';

interface SharedReadOptions {
  /** An answer is good enough if its read began at most this long before the call. Default: 0, the read begins after the call. */
  readonly maxAgeMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Read<T> {
  readonly number: number;
  /** On the monotonic clock. */
  readonly beganAt: number;
  readonly answer: Promise<T>;
  readonly abort: AbortController;
  isOver: boolean;
  waiting: number;
}

export type SharedReads<T> = ReturnType<typeof createSharedReads<T>>;

/**
 * Reads that all callers with the same key share, like Go's singleflight, but with an age for each answer.
 * Guarantees: one read per key at a time. A caller gets no answer of a read that began earlier than it allows: it waits for that read to
 * end, and shares the next one with all that wait too. A failure goes to those who waited for it, and is not kept. A read is aborted when
 * nobody waits for it any more.
 */
export const createSharedReads = <T>(clock: Pick<Clock, 'monotonic'>) => {
  const reads = new Map<string, Read<T>>();
  let count = 0;

  const begin = (key: string, start: (signal: AbortSignal) => Promise<T>): Read<T> => {
    const abort = new AbortController();
    const read = { number: ++count, beganAt: clock.monotonic(), answer: start(abort.signal), abort };
    const shared: Read<T> = { ...read, isOver: false, waiting: 0 };
    const end = (): void => {
      shared.isOver = true;
    };
    const fail = (): void => {
      end();
      if (reads.get(key) === shared) reads.delete(key);
    };
    shared.answer.then(end, fail);
    abort.signal.addEventListener('abort', fail);
    reads.set(key, shared);
    return shared;
  };

  const join = async (read: Read<T>, signal: AbortSignal | undefined): Promise<T> => {
    read.waiting += 1;
    try {
      return await raceWithSignal(read.answer, signal);
    } finally {
      read.waiting -= 1;
      if (read.waiting === 0 && !read.isOver) read.abort.abort();
    }
  };

  return {
    read: async (
      key: string,
      { maxAgeMs = 0, signal }: SharedReadOptions,
      start: (signal: AbortSignal) => Promise<T>,
    ): Promise<T> => {
      signal?.throwIfAborted();
      const lastBefore = count;
      const oldest = clock.monotonic() - maxAgeMs;
      for (;;) {
        const known = reads.get(key);
        // By number, as a clock does not tell what came first within a millisecond.
        const isGood = known && (known.number > lastBefore || (maxAgeMs > 0 && known.beganAt >= oldest));
        if (isGood) return join(known, signal);
        if (known === undefined || known.isOver) return join(begin(key, start), signal);
        await join(known, signal).catch(() => signal?.throwIfAborted());
      }
    },
    /** Answers of reads that have begun are not used for further calls. */
    clear: (): void => reads.clear(),
  };
};

/** Waits for shared work. Rejects with the reason of `signal` when it fires; the work continues. */
export const raceWithSignal = async <T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return work;
  const left = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: left.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    left.abort();
  }
};
