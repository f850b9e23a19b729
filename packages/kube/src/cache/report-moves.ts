import { isKubeError, type Reason } from '../errors/kube-error.ts';
import type { Logger } from '../logs/logger.ts';
import type { WatchOccurrence, WatchState } from './watch-state.ts';

/** Hooks for whoever counts. They must not throw. */
export interface WatchMetrics {
  /** A list is in; `objects` are held now. */
  listed?(objects: number): void;
  /** A connection of the watch is being opened. */
  watching?(): void;
  /** A list or a watch failed; `defect` is an error that is not the server's. */
  failed?(reason: Reason | 'defect'): void;
}

/** Failures that time alone rarely mends. They are retried all the same: somebody may be mending them right now. */
const advice: Partial<Record<Reason, string>> = {
  unauthorized: 'check the credentials',
  forbidden: 'grant the verbs list and watch on this resource',
  notFound: 'install the CustomResourceDefinition, or check group, version and plural',
};

const reportFailure = (error: Error, state: WatchState, log: Logger, metrics: WatchMetrics): void => {
  const reason = isKubeError(error) ? error.reason : 'defect';
  metrics.failed?.(reason);
  const fields = { reason, error, failures: state.failures };
  if (state.kind !== 'waiting') return log.info('The server no longer knows our version; listing anew', fields);
  const next = state.version === undefined ? 'list' : 'resume';
  const hint = reason === 'defect' ? undefined : advice[reason];
  log.warn('Listing or watching failed; trying again after a wait', {
    ...fields,
    waitMs: Math.round(state.delayMs),
    next,
    ...(hint === undefined ? {} : { advice: hint }),
  });
};

/** The log lines and the numbers of a cache: one call per move of its state. */
export const reportMoves =
  ({ log, metrics, size }: { log: Logger; metrics: WatchMetrics; size: () => number }) =>
  (state: WatchState, occurrence: WatchOccurrence): void => {
    if (occurrence.type === 'heard' || state.kind === 'stopped') return;
    if (occurrence.type === 'listed') {
      metrics.listed?.(size());
      log.debug('Listed', { objects: size() });
    }
    if (occurrence.type === 'silent')
      log.info('The watch fell silent; its connection is given up', { next: state.kind });
    if (state.kind === 'watching') metrics.watching?.();
    else if (state.error && (occurrence.type === 'failed' || occurrence.type === 'ended'))
      reportFailure(state.error, state, log, metrics);
  };
