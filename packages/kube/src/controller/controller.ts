import { type Clock, sleep } from '../clock/clock.ts';
import { untilAborted } from '../errors/abort-signal.ts';
import type { Logger } from '../logs/logger.ts';
import type { BackoffOptions } from '../workqueue/rate-limiter.ts';
import { createWorkQueue, type QueueObserver, type WorkQueue } from '../workqueue/work-queue.ts';
import { handleResult, noopObserver, type ReconcileObserver, type Reconciler, runReconcile } from './reconcile.ts';
import type { Source } from './source.ts';

/** Reconciles keys until its signal fires. */
export interface Controller {
  readonly name: string;
  /** Resolves when it first subscribed to its sources and started its workers. */
  readonly ready: Promise<void>;
  /** Keys whose reconcile ignored its signal and still runs after `run` gave up waiting. */
  readonly abandoned: readonly string[];
  /**
   * Runs until `signal` fires, then stops within its grace period. Can run again after that, unless a reconcile was abandoned:
   * two workers would reconcile the same key. Rejects when it cannot subscribe to a source, or on a bug of its own.
   */
  run(signal: AbortSignal): Promise<void>;
}

export interface ControllerOptions {
  name: string;
  reconcile: Reconciler;
  sources: readonly Source[];
  clock: Clock;
  log: Logger;
  /** Concurrent reconciles of different keys; controller-runtime's maxConcurrentReconciles. 1 by default. */
  workers?: number | undefined;
  /** For failed reconciles. 5 ms, doubling up to 1000 s by default. */
  backoff?: BackoffOptions;
  metrics?: { controller(name: string): ReconcileObserver; queue(name: string): QueueObserver } | undefined;
  /** How long running reconciles may take after the controller was stopped. 15 s by default. */
  stopGraceMs?: number;
}

const stopReason = new Error('the controller stops');

/**
 * Flow: sources → queue → workers → `reconcile` → `handleResult`. On stop: the queue closes, each reconcile's signal fires, and
 * after the grace period the reconciles that still run are abandoned, each with a log line.
 * Guarantees: one reconcile per key at a time; an exception of `reconcile` is a failed reconcile and nothing more.
 * Assumptions: `reconcile` reads the state anew each time, honours its signal, and does not block the thread.
 */
export const createController = (options: ControllerOptions): Controller => {
  const { name, reconcile, sources, clock, workers = 1, stopGraceMs = 15_000 } = options;
  if (!Number.isInteger(workers) || workers < 1)
    throw new RangeError(`controller ${name}: ${workers} is no number of workers`);
  const log = options.log.with({ controller: name });
  const observer = options.metrics?.controller(name) ?? noopObserver;
  const ready = Promise.withResolvers<void>();
  const reconciles = new Map<string, AbortController>();
  let running = false;

  const work = async (queue: WorkQueue, key: string, stopping: AbortSignal): Promise<void> => {
    observer.began();
    const stop = new AbortController();
    reconciles.set(key, stop);
    const end = await runReconcile(reconcile, clock, key, stop.signal);
    reconciles.delete(key);
    // A reconcile whose signal fired has to fail: that is not an error of the key.
    const cutShort = stopping.aborted && end.outcome.kind === 'failed';
    if (cutShort) log.debug('A reconcile was interrupted by the stop', { key });
    observer.ended(cutShort ? undefined : handleResult({ queue, log }, key, end));
    queue.done(key);
  };

  const runWorker = async (queue: WorkQueue, stopping: AbortSignal): Promise<void> => {
    for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
      // The stop may have happened between `get` and this line.
      if (stopping.aborted) return queue.done(key);
      await work(queue, key, stopping);
    }
  };

  const reportUnmapped = (error: unknown): void =>
    log.error('A change could not be mapped to keys and is ignored', { error });

  const runOnce = async (signal: AbortSignal): Promise<void> => {
    const queue = createWorkQueue({ clock, backoff: options.backoff, observer: options.metrics?.queue(name) });
    const subscriptions: (() => void)[] = [];
    const unsubscribe = (): void => {
      for (const end of subscriptions.splice(0)) end();
    };
    let crash: { error: unknown } | undefined;
    const stopping = new AbortController();
    const stop = (): void => {
      if (stopping.signal.aborted) return;
      stopping.abort(stopReason);
      unsubscribe();
      queue.shutDown();
      for (const reconcile of reconciles.values()) reconcile.abort(stopReason);
    };
    const workersEnded = new AbortController();
    const worker = (): Promise<void> =>
      runWorker(queue, stopping.signal).catch((error: unknown) => {
        crash ??= { error };
        stop();
      });
    signal.addEventListener('abort', stop, { once: true });
    try {
      for (const source of sources) subscriptions.push(source(queue.add, reportUnmapped));
      observer.started(workers);
      log.info('The controller works', { workers });
      void Promise.all(Array.from({ length: workers }, worker)).then(() => workersEnded.abort());
      ready.resolve();
      await untilAborted(stopping.signal);
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
      unsubscribe();
    }
    await sleep(clock, stopGraceMs, workersEnded.signal);
    for (const key of reconciles.keys())
      log.error('A reconcile ignored its signal and is abandoned', { key, graceMs: stopGraceMs });
    if (crash) throw crash.error;
    log.info('The controller has stopped');
  };

  return {
    name,
    ready: ready.promise,
    get abandoned() {
      return running ? [] : [...reconciles.keys()];
    },
    run: async (signal) => {
      if (running) throw new Error(`controller ${name} runs already`);
      if (reconciles.size > 0)
        throw new Error(
          `controller ${name} cannot run: reconciles of ${[...reconciles.keys()].join(', ')} never ended`,
        );
      if (signal.aborted) return;
      running = true;
      try {
        await runOnce(signal);
      } finally {
        running = false;
      }
    },
  };
};
