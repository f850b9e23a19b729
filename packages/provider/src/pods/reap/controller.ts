import { buildDetailedEvent } from '@tartan/api';
import {
  type Client,
  type Controller,
  createController,
  deleteIfUnchanged,
  done,
  type EventRecorder,
  fromInformer,
  isKubeError,
  type Live,
  type Logger,
  pods,
  type Reconciler,
  requestForObject,
  requeueAfter,
} from '@tartan/kube';
import type { ControllerDeps, Informers, Node, Pod } from '../../controller-deps.ts';
import { decide } from './decide.ts';
import { isCordoned, isMac, observe, type ObserveDeps } from './observe.ts';

interface PodReaperOptions
  extends ControllerDeps,
    Pick<Informers, 'nodes'>,
    Omit<ObserveDeps, 'client' | 'nodes'>,
    Pick<ActDeps, 'events' | 'count'> {
  /** 10 s unless told: core looks every 20 s whether its drain is over. */
  lookAgainMs?: number;
}

/**
 * Deletes Pods that have ended on a Mac whose Machine is being deleted, as core's drain would wait for them for ever. Keys are names of
 * Nodes: core cordons before it drains, which is heard of; the rest is looked for while a Mac is cordoned.
 * Needs: get of machines of cluster.x-k8s.io; list, watch of nodes and scalewayapplesiliconmachines; list, watch, delete of pods; create,
 * patch of events.
 */
export const createPodReaper = (options: PodReaperOptions): Controller => {
  const { nodes, clock, log, metrics, lookAgainMs = 10_000 } = options;

  const reconcile: Reconciler = async (name, signal) => {
    const { snapshot, pods } = await observe(options, name, signal);
    const decision = decide(snapshot);
    switch (decision.kind) {
      case 'leave':
        return done;
      case 'wait':
        return requeueAfter(lookAgainMs);
      case 'reap':
        await reapPods(
          options,
          pods.filter(({ metadata }) => decision.uids.includes(metadata.uid)),
          signal,
        );
        return requeueAfter(lookAgainMs);
    }
  };

  return createController({
    name: 'pod-reaper',
    reconcile,
    sources: [fromInformer(nodes, requestForObject, becameCordoned)],
    clock,
    log,
    metrics,
  });
};

/** Nodes say much, and often. What is cordoned already is looked at by the clock. */
const becameCordoned: Parameters<typeof fromInformer<Node>>[2] = (change) => {
  if (change.type === 'removed' || !isMac(change.object) || !isCordoned(change.object)) return false;
  return change.type !== 'changed' || !isCordoned(change.previous) || !isMac(change.previous);
};

interface ActDeps {
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
const reapPods = async (
  { client, events, count, log }: ActDeps,
  ended: readonly Live<Pod>[],
  signal: AbortSignal,
): Promise<void> => {
  for (const pod of ended) {
    const { name, namespace, uid } = pod.metadata;
    try {
      await deleteIfUnchanged(client, pods, pod, { signal });
    } catch (error) {
      if (isKubeError(error, 'notFound', 'conflict')) continue;
      throw error;
    }
    const node = pod.spec?.nodeName ?? '';
    log.info('Reaped a Pod that had ended and held up a drain', { namespace, name, uid, node });
    count(reapedPhaseOf(pod));
    events.event(pod, buildDetailedEvent('PodReaped', `The Machine behind the Node ${node} is being deleted.`));
  }
};

export type ReapedPhase = 'succeeded' | 'failed';

const reapedPhaseOf = ({ status }: Live<Pod>): ReapedPhase => (status?.phase === 'Failed' ? 'failed' : 'succeeded');
