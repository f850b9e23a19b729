import { type Client, type EventRecorder, isKubeError, type Live, type Logger, pods } from '@tartan/kube';
import type { Pod } from '../observe.ts';
import { happeningOf, type ReapedPhase, phaseOf } from './status.ts';

export interface Reaper {
  client: Pick<Client, 'delete'>;
  events: Pick<EventRecorder, 'event'>;
  /** Called once for each Pod. */
  count: (phase: ReapedPhase) => void;
  log: Logger;
}

/**
 * Deletes Pods that were seen to have ended. Each delete holds UID and resource version of what was judged, so it meets no other Pod and
 * no other state of it; whoever lost that race is looked at again. To repeat it after a crash does nothing more.
 */
export const reap = async (
  { client, events, count, log }: Reaper,
  ended: readonly Live<Pod>[],
  signal: AbortSignal,
): Promise<void> => {
  for (const pod of ended) {
    const { name, namespace = '', uid, resourceVersion } = pod.metadata;
    try {
      await client.delete(pods, { namespace, name }, { preconditions: { uid, resourceVersion }, signal });
    } catch (error) {
      if (isKubeError(error, 'notFound', 'conflict')) continue;
      throw error;
    }
    const node = pod.spec?.nodeName ?? '';
    log.info('Reaped a Pod that had ended and held up a drain', { namespace, name, uid, node });
    count(phaseOf(pod));
    events.event(pod, happeningOf(node));
  }
};
