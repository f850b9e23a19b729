import type { Clock } from '../clock/clock.ts';
import { createDelayingQueue } from './delaying-queue.ts';
import {
  backoffMs,
  type BackoffOptions,
  createTokenBucket,
  defaultBackoff,
  type TokenBucketOptions,
} from './rate-limiter.ts';

/**
 * Keys that want attention. A key is in it once, however often it is added; it is worked on by one worker at a time; added while
 * it is worked on, it comes again afterwards.
 */
export interface WorkQueue {
  add(key: string): void;
  /** Of two delays for the same key the one that ends earlier counts. Adding a key at once leaves its delay as it is. */
  addAfter(key: string, milliseconds: number): void;
  /** Adds the key after its back-off, which doubles with every failure in a row; not before `atLeastMs` where that is longer. */
  addRateLimited(key: string, atLeastMs?: number): void;
  /** The key is fine: its next failure starts with the shortest back-off. */
  forget(key: string): void;
  /** Failures in a row. */
  numRequeues(key: string): number;
  /** The next key, which is this caller's until `done`; undefined when the queue has been stopped. */
  get(): Promise<string | undefined>;
  done(key: string): void;
  /** Keys that wait now (not those of `addAfter` that are not due). */
  readonly length: number;
  /** For good: what waits is dropped, whoever waits is sent home, keys being worked on may still be `done`. */
  shutDown(): void;
}

export interface WorkQueueOptions {
  clock: Clock;
  /** 5 ms doubling up to 1000 s by default. */
  backoff?: BackoffOptions | undefined;
  /** Over all keys, for retries alone: what is added because something changed is never held back. */
  limiter?: TokenBucketOptions;
  observer?: QueueObserver | undefined;
}

/**
 * Flow: `add` → ready line → `next` (now the worker's) → `done`. A retry waits for the longer of its key's back-off and its turn in
 * the token bucket, then it is added.
 * Guarantees: no added key is lost before `stop`; never two workers on one key; a key added while worked on comes again exactly
 * once; ready keys are served in the order in which they became ready, workers in the order in which they asked.
 * Assumptions: every key that `next` answered is `done` sooner or later; a key is forgotten when it is fine (or gone).
 * Caveats: what still waits when the queue is stopped is dropped, not drained: the next start lists everything again.
 */
export const createWorkQueue = ({
  clock,
  backoff = defaultBackoff,
  limiter,
  observer = noopQueueObserver,
}: WorkQueueOptions): WorkQueue => {
  /** Wanted keys: those in `ready`, and those that a worker has while they were added again. */
  const dirty = new Set<string>();
  const processing = new Set<string>();
  const ready: string[] = [];
  const waiting: ((key: string | undefined) => void)[] = [];
  /** Failures in a row, of keys that fail. */
  const failures = new Map<string, number>();
  const bucket = createTokenBucket(clock, limiter);
  let stopped = false;

  const hand = (key: string): void => {
    const worker = waiting.shift();
    if (!worker) {
      ready.push(key);
      return;
    }
    take(key);
    worker(key);
  };
  const take = (key: string): void => {
    dirty.delete(key);
    processing.add(key);
    observer.taken(key);
  };
  const add = (key: string): void => {
    if (stopped || dirty.has(key)) return;
    dirty.add(key);
    observer.added(key);
    if (!processing.has(key)) hand(key);
  };
  const delays = createDelayingQueue(clock, add);
  const addAfter = (key: string, milliseconds: number): void => {
    if (stopped) return;
    observer.delayed();
    if (milliseconds > 0) delays.put(key, milliseconds);
    else add(key);
  };

  return {
    add,
    addAfter,
    addRateLimited: (key, atLeastMs = 0) => {
      if (stopped) return;
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      addAfter(key, Math.max(backoffMs(backoff, count), bucket.reserve(), atLeastMs));
    },
    forget: (key) => {
      failures.delete(key);
    },
    numRequeues: (key) => failures.get(key) ?? 0,
    get: () => {
      if (stopped) return Promise.resolve(undefined);
      const key = ready.shift();
      if (key === undefined) return new Promise((resolve) => waiting.push(resolve));
      take(key);
      return Promise.resolve(key);
    },
    done: (key) => {
      if (!processing.delete(key)) return;
      observer.finished(key);
      if (dirty.has(key)) hand(key);
    },
    get length() {
      return ready.length;
    },
    shutDown: () => {
      if (stopped) return;
      stopped = true;
      delays.clear();
      ready.length = 0;
      dirty.clear();
      observer.stopped();
      for (const worker of waiting.splice(0)) worker(undefined);
    },
  };
};

/** Called for each step of the keys of one work queue, for metrics. */
export interface QueueObserver {
  /** The key was not wanted and is now: it waits, or comes again once the worker that has it is done. */
  added(key: string): void;
  /** A worker has it. */
  taken(key: string): void;
  /** The worker is done with it. */
  finished(key: string): void;
  /** Somebody asked for a key to come later: a retry, or `addAfter`. */
  delayed(): void;
  /** Nothing waits any more. Keys that are worked on are still `finished`. */
  stopped(): void;
}

export const noopQueueObserver: QueueObserver = {
  added: () => {},
  taken: () => {},
  finished: () => {},
  delayed: () => {},
  stopped: () => {},
};
