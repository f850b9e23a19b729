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
 * Keys to reconcile. A key is queued once, however often it is added, and processed by one worker at a time; a key added while
 * it is processed is queued again afterwards.
 */
export interface WorkQueue {
  add(key: string): void;
  /** If a key has two delays, the earlier deadline wins. `add` does not cancel a delay. */
  addAfter(key: string, milliseconds: number): void;
  /** Adds the key after its backoff, which doubles with every consecutive failure; after `atLeastMs` if that is longer. */
  addRateLimited(key: string, atLeastMs?: number): void;
  /** Resets the key's backoff. */
  forget(key: string): void;
  /** Consecutive failures. */
  numRequeues(key: string): number;
  /** The next key, reserved for this caller until `done`; undefined after `shutDown`. */
  get(): Promise<string | undefined>;
  done(key: string): void;
  /** Queued keys (without those of `addAfter` that are not due). */
  readonly length: number;
  /** Final: drops queued keys and resolves waiting `get` calls with undefined. `done` still works for keys in processing. */
  shutDown(): void;
}

export interface WorkQueueOptions {
  clock: Clock;
  /** 5 ms doubling up to 1000 s by default. */
  backoff?: BackoffOptions | undefined;
  /** Over all keys, for retries only: keys added because of a change are never delayed. */
  limiter?: TokenBucketOptions;
  observer?: QueueObserver | undefined;
}

/**
 * Keys handed out in one turn of the event loop. Passes that need no I/O end in the turn in which they begin: without a limit, thousands of
 * keys that are due at once would be processed before anything else, such as a scrape, is answered. Ten passes take about 20 ms.
 */
const keysPerTurn = 10;

/**
 * Flow: `add` → ready → `get` (processing) → `done`. A retry waits for the longer of its key's backoff and its token, then it is
 * added.
 * Guarantees: no added key is lost before `shutDown`; a key is never processed twice at the same time; a key added while it is
 * processed is queued again exactly once; keys are served in the order in which they became ready, workers in the order of their
 * `get` calls; the event loop goes on after every `keysPerTurn` keys.
 * Assumptions: `done` is called for every key that `get` returned; `forget` after a success (or when the object is gone).
 * Caveats: keys still queued at `shutDown` are dropped, not drained: the next start lists everything again.
 */
export const createWorkQueue = ({
  clock,
  backoff = defaultBackoff,
  limiter,
  observer = noopQueueObserver,
}: WorkQueueOptions): WorkQueue => {
  /** Keys to process: those in `ready`, and those in `processing` that were added again. */
  const dirty = new Set<string>();
  const processing = new Set<string>();
  const ready: string[] = [];
  const waiting: ((key: string | undefined) => void)[] = [];
  /** Consecutive failures by key. */
  const failures = new Map<string, number>();
  const bucket = createTokenBucket(clock, limiter);
  let handedOut = 0;
  let stopped = false;

  const handOut = (): void => {
    while (handedOut < keysPerTurn && waiting.length > 0) {
      const key = ready.shift();
      if (key === undefined) return;
      handedOut += 1;
      if (handedOut === 1) setImmediate(beginTurn);
      dirty.delete(key);
      processing.add(key);
      observer.taken(key);
      waiting.shift()?.(key);
    }
  };
  const beginTurn = (): void => {
    handedOut = 0;
    handOut();
  };
  const makeReady = (key: string): void => {
    ready.push(key);
    handOut();
  };
  const add = (key: string): void => {
    if (stopped || dirty.has(key)) return;
    dirty.add(key);
    observer.added(key);
    if (!processing.has(key)) makeReady(key);
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
      return new Promise((resolve) => {
        waiting.push(resolve);
        handOut();
      });
    },
    done: (key) => {
      if (!processing.delete(key)) return;
      observer.finished(key);
      if (dirty.has(key)) makeReady(key);
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

/** Callbacks for the metrics of one work queue. */
export interface QueueObserver {
  /** The key became dirty: it is queued, now or after the worker that has it is done. */
  added(key: string): void;
  /** A worker got it. */
  taken(key: string): void;
  /** The worker is done with it. */
  finished(key: string): void;
  /** A key was added with a delay: a retry, or `addAfter`. */
  delayed(): void;
  /** The queue was shut down. Keys in processing are still `finished`. */
  stopped(): void;
}

export const noopQueueObserver: QueueObserver = {
  added: () => {},
  taken: () => {},
  finished: () => {},
  delayed: () => {},
  stopped: () => {},
};
