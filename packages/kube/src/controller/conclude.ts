import { isKubeError } from '../errors/kube-error.ts';
import type { Logger } from '../logs/logger.ts';
import type { WorkQueue } from '../queue/work-queue.ts';
import type { PassEnd } from './pass.ts';
import type { PassSummary } from './pass-observer.ts';

/** The one place where an outcome turns into what happens to the key, what is logged and what is counted. */
export const conclude = (
  { queue, log }: { queue: WorkQueue; log: Logger },
  key: string,
  { outcome, seconds, defect, timedOut }: PassEnd,
): PassSummary => {
  const summary = { seconds, defect, timedOut, terminal: false };
  switch (outcome.kind) {
    case 'settled':
      queue.forget(key);
      return { ...summary, result: 'success' };
    case 'again':
      queue.forget(key);
      queue.addAfter(key, outcome.afterMs);
      return { ...summary, result: 'requeue_after' };
    case 'failed': {
      const { error } = outcome;
      queue.retry(key, isKubeError(error) ? error.retryAfterMs : undefined);
      const fields = { key, error, failures: queue.failures(key) };
      if (defect) log.error('A pass ended with a programming mistake and will be tried again', fields);
      else log.warn('A pass failed and will be tried again', fields);
      return { ...summary, result: 'error' };
    }
    case 'stuck':
      queue.forget(key);
      log.error('A pass cannot succeed until the object changes', { key, error: outcome.error });
      return { ...summary, result: 'error', terminal: true };
  }
};
