import type { Clock } from '../clock/clock.ts';
import { type BackoffOptions, createBackoff } from './backoff.ts';
import { createDelays } from './delays.ts';
import { createLine } from './line.ts';
import { type QueueObserver, unobserved } from './queue-observer.ts';
import { createTokenBucket, type TokenBucketOptions } from './token-bucket.ts';
import type { WorkQueue } from './work-queue.ts';

export interface WorkQueueOptions {
  clock: Clock;
  /** 5 ms doubling up to 1000 s unless told. */
  backoff?: BackoffOptions;
  /** Over all keys, for retries alone: what is added because something changed is never held back. */
  limiter?: TokenBucketOptions;
  observer?: QueueObserver;
}

/**
 * Flow: `add` → ready line → `next` (now the worker's) → `done`. A retry waits for the longer of its key's back-off and its turn in
 * the token bucket, then it is added.
 * Guarantees: no added key is lost before `stop`; never two workers on one key; a key added while worked on comes again exactly
 * once; ready keys are served in the order in which they became ready, workers in the order in which they asked.
 * Assumptions: every key that `next` answered is `done` sooner or later; a key is forgotten when it is fine (or gone).
 * Caveats: what still waits when the queue is stopped is dropped, not drained: the next start lists everything again.
 */
export const createWorkQueue = ({ clock, backoff, limiter, observer = unobserved }: WorkQueueOptions): WorkQueue => {
  /** Wanted keys: those in `ready`, and those that a worker has while they were added again. */
  const dirty = new Set<string>();
  const processing = new Set<string>();
  const ready = createLine<string>();
  const waiting = createLine<(key: string | undefined) => void>();
  const failing = createBackoff(backoff);
  const bucket = createTokenBucket(clock, limiter);
  let stopped = false;

  const hand = (key: string): void => {
    const worker = waiting.shift();
    if (!worker) return ready.push(key);
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
  const delays = createDelays(clock, add);
  const addAfter = (key: string, milliseconds: number): void => {
    if (stopped) return;
    observer.delayed();
    if (milliseconds > 0) delays.put(key, milliseconds);
    else add(key);
  };

  return {
    add,
    addAfter,
    retry: (key, atLeastMs = 0) => {
      if (!stopped) addAfter(key, Math.max(failing.fail(key), bucket.reserve(), atLeastMs));
    },
    forget: (key) => failing.forget(key),
    failures: (key) => failing.failures(key),
    next: () => {
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
    stop: () => {
      if (stopped) return;
      stopped = true;
      delays.clear();
      ready.clear();
      dirty.clear();
      observer.stopped();
      for (const worker of waiting.clear()) worker(undefined);
    },
  };
};
