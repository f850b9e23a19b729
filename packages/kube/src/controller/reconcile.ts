import type { Clock } from '../clock/clock.ts';
import { isKubeError } from '../errors/kube-error.ts';
import type { Logger } from '../logs/logger.ts';
import type { WorkQueue } from '../workqueue/work-queue.ts';

/** What one pass over a key came to. Closed: a controller knows what to do with each. */
export type ReconcileResult =
  /** Nothing to do until something changes. */
  | { kind: 'done' }
  /** Come back after that time, whatever happens. */
  | { kind: 'requeueAfter'; afterMs: number }
  /** Did not work; come back with back-off. A throw counts as this. */
  | { kind: 'failed'; error: unknown }
  /** Will not work until the object changes: reported, not retried. */
  | { kind: 'terminal'; error: unknown };

export const done: ReconcileResult = { kind: 'done' };
export const requeueAfter = (afterMs: number): ReconcileResult => ({ kind: 'requeueAfter', afterMs });

/** Key in, outcome out. Reads the world each time; `signal` fires when the process stops or leadership is lost. */
export type Reconciler = (key: string, signal: AbortSignal) => Promise<ReconcileResult>;

/** How one pass over one key ended. */
interface ReconcileRunEnd {
  outcome: ReconcileResult;
  seconds: number;
  defect: boolean;
}

/** An error that nobody foresaw: the code is wrong, not the world. */
const isDefect = (error: unknown): boolean =>
  !(error instanceof Error) ||
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof ReferenceError ||
  error instanceof SyntaxError;

/**
 * Guarantees: never rejects; whatever the reconcile function throws ends up as `failed`.
 * Caveats: a function that ignores its signal is not ended by anything. Its key stays taken, since two passes over one key at
 * the same time are worse than none.
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

/** The word under which a pass is counted. */
type ReconcileResultLabel = 'success' | 'error' | 'requeue_after';

export interface ReconcileSummary {
  result: ReconcileResultLabel;
  seconds: number;
  /** It will not be tried again until something changes. */
  terminal: boolean;
  /** It ended with a programming mistake, not with an error that somebody foresaw. */
  defect: boolean;
}

/** Called for the passes of one controller, for metrics. */
export interface ReconcileObserver {
  /** The controller runs with that many workers. */
  started(workers: number): void;
  began(): void;
  /** `summary` is missing when the pass was cut short because the controller stops. */
  ended(summary: ReconcileSummary | undefined): void;
}

export const noopObserver: ReconcileObserver = { started: () => {}, began: () => {}, ended: () => {} };

/** The one place where an outcome turns into what happens to the key, what is logged and what is counted. */
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
      queue.addRateLimited(key, isKubeError(error) ? error.retryAfterMs : undefined);
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
