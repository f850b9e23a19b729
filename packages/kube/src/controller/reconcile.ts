import type { Clock } from '../clock/clock.ts';
import { isKubeError } from '../errors/kube-error.ts';
import type { Logger } from '../logs/logger.ts';
import type { WorkQueue } from '../workqueue/work-queue.ts';

/** Result of one reconcile of a key. */
export type ReconcileResult =
  /** Nothing to do until something changes. */
  | { kind: 'done' }
  /** Reconcile again after that time, whatever changes. */
  | { kind: 'requeueAfter'; afterMs: number }
  /** Retry with backoff. An exception counts as this. */
  | { kind: 'failed'; error: unknown }
  /** Reported, and not retried until the object changes. */
  | { kind: 'terminal'; error: unknown };

export const done: ReconcileResult = { kind: 'done' };
export const requeueAfter = (afterMs: number): ReconcileResult => ({ kind: 'requeueAfter', afterMs });

/** Reads the current state each time; `signal` fires when the process stops or leadership is lost. */
export type Reconciler = (key: string, signal: AbortSignal) => Promise<ReconcileResult>;

/** How one reconcile of a key ended. */
interface ReconcileRunEnd {
  outcome: ReconcileResult;
  seconds: number;
  defect: boolean;
}

/** An unexpected error: a bug, not a problem of the environment. */
const isDefect = (error: unknown): boolean =>
  !(error instanceof Error) ||
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof ReferenceError ||
  error instanceof SyntaxError;

/**
 * Guarantees: never rejects; any exception of the reconcile function becomes `failed`.
 * Caveats: nothing ends a function that ignores its signal. Its key stays locked, because two concurrent reconciles of one
 * key are worse than none.
 */
export const runReconcile = async (
  reconcile: Reconciler,
  clock: Clock,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileRunEnd> => {
  const start = clock.monotonic();
  const seconds = (): number => (clock.monotonic() - start) / 1000;
  try {
    const outcome = await reconcile(key, signal);
    if (outcome.kind === 'requeueAfter' && !(outcome.afterMs >= 0 && Number.isFinite(outcome.afterMs)))
      throw new TypeError(`the reconcile function wants to come back after ${outcome.afterMs} ms, which is no time`);
    return { outcome, seconds: seconds(), defect: false };
  } catch (error) {
    return { outcome: { kind: 'failed', error }, seconds: seconds(), defect: isDefect(error) };
  }
};

/** The metric label of a result. */
type ReconcileResultLabel = 'success' | 'error' | 'requeue_after';

export interface ReconcileSummary {
  result: ReconcileResultLabel;
  seconds: number;
  /** It is not retried until something changes. */
  terminal: boolean;
  /** It ended with a bug, not with an expected error. */
  defect: boolean;
}

/** Callbacks for the metrics of one controller. */
export interface ReconcileObserver {
  /** The controller started this number of workers. */
  started(workers: number): void;
  began(): void;
  /** `summary` is undefined when the controller's stop interrupted the reconcile. */
  ended(summary: ReconcileSummary | undefined): void;
}

export const noopObserver: ReconcileObserver = { started: () => {}, began: () => {}, ended: () => {} };

/** `Retry-After: 0` would be a busy loop. */
const minRetryAfterMs = 1000;

/** The only place that turns a result into requeue, log line and metric. */
export const handleResult = (
  { queue, log }: { queue: WorkQueue; log: Logger },
  key: string,
  { outcome, seconds, defect }: ReconcileRunEnd,
): ReconcileSummary => {
  const summary = { seconds, defect, terminal: false };
  switch (outcome.kind) {
    case 'done':
      queue.forget(key);
      return { ...summary, result: 'success' };
    case 'requeueAfter':
      queue.forget(key);
      queue.addAfter(key, outcome.afterMs);
      return { ...summary, result: 'requeue_after' };
    case 'failed': {
      const { error } = outcome;
      // A busy server is no failure of the key: it says itself when to come back.
      if (isKubeError(error, 'tooManyRequests') && error.retryAfterMs !== undefined)
        queue.addAfter(key, Math.max(error.retryAfterMs, minRetryAfterMs));
      else queue.addRateLimited(key, isKubeError(error) ? error.retryAfterMs : undefined);
      const fields = { key, error, failures: queue.numRequeues(key) };
      if (defect) log.error('A pass ended with a programming mistake and will be tried again', fields);
      else log.warn('A pass failed and will be tried again', fields);
      return { ...summary, result: 'error' };
    }
    case 'terminal':
      queue.forget(key);
      log.error('A pass cannot succeed until the object changes', { key, error: outcome.error });
      return { ...summary, result: 'error', terminal: true };
  }
};
