import { controllerManager } from '../authentication/user.ts';
import { ApiError } from '../errors/api-error.ts';
import { copy } from '../object.ts';
import { isReady } from './node/zone-disruption.ts';
import { asNode, asPod, isFinished, isTerminating, type Node, type Pod, withPodCondition } from './runtime/objects.ts';
import { type Controller, type OnError, workQueue } from './runtime/workqueue.ts';

/** How long a Node may be missing before its Pods are deleted: the cache may not know the Node yet. */
const quarantine = 40_000;

interface Sweep {
  /** Bound to a Node that has been missing for too long. */
  orphaned: Pod[];
  /** Being deleted, but no kubelet can end them. */
  abandoned: Pod[];
  /** Missing Nodes, and when their Pods may be deleted. */
  missing: Map<string, number>;
}

const isOutOfService = (node: Node | undefined): boolean =>
  node !== undefined &&
  !isReady(node) &&
  (node.spec.taints ?? []).some(({ key }) => key === 'node.kubernetes.io/out-of-service');

/** The Pods that no kubelet will ever end. */
export const sweep = (
  pods: readonly Pod[],
  nodes: readonly Node[],
  missing: ReadonlyMap<string, number>,
  now: number,
): Sweep => {
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]));
  const stillMissing = new Map<string, number>();
  const orphaned: Pod[] = [];
  const abandoned: Pod[] = [];
  for (const pod of pods) {
    const { nodeName } = pod.spec;
    if (!nodeName) {
      if (isTerminating(pod)) abandoned.push(pod);
    } else if (!byName.has(nodeName)) {
      const due = missing.get(nodeName) ?? now + quarantine;
      stillMissing.set(nodeName, due);
      if (due <= now) orphaned.push(pod);
    } else if (isTerminating(pod) && isOutOfService(byName.get(nodeName))) {
      abandoned.push(pod);
    }
  }
  return { orphaned, abandoned, missing: stillMissing };
};

const gcPeriodMs = 20_000;

const nodeIsGone = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByPodGC',
  message: 'PodGC: node no longer exists',
};

/** Removes Pods that no kubelet will ever end: sets them to Failed, then deletes them without grace period. */
export const podGc = (onError: OnError): Controller => ({
  name: 'pod-gc',
  start: (api) => {
    const nodes = api.find('', 'nodes');
    const pods = api.find('', 'pods');
    if (!nodes || !pods) return () => {};
    let missing: ReadonlyMap<string, number> = new Map();

    const fail = (pod: Pod, condition: typeof nodeIsGone | undefined): void => {
      if (isFinished(pod)) return;
      const status = (condition && withPodCondition(pod, condition, api.clock.now())) ?? pod.status;
      const generation = pod.metadata.generation;
      const failed = {
        ...copy(pod),
        status: { ...status, phase: 'Failed', ...(generation === undefined ? {} : { observedGeneration: generation }) },
      };
      api.updateStatus(pods, pod.metadata.namespace ?? '', failed, controllerManager);
    };

    const remove = (pod: Pod, condition?: typeof nodeIsGone): void => {
      const { namespace = '', name } = pod.metadata;
      try {
        fail(pod, condition);
        api.delete(pods, namespace, name, controllerManager, { gracePeriodSeconds: 0 });
      } catch (error) {
        // A Pod that cannot be removed must not block the others.
        if (!(error instanceof ApiError && error.code === 404)) onError(error, `${namespace}/${name}`);
      }
    };

    const queue = workQueue({
      clock: api.clock,
      onError,
      reconcile: () => {
        queue.addAfter('', gcPeriodMs);
        const found = sweep(api.list(pods, '').map(asPod), api.list(nodes, '').map(asNode), missing, api.clock.now());
        missing = found.missing;
        for (const pod of found.abandoned) remove(pod);
        for (const pod of found.orphaned) remove(pod, nodeIsGone);
      },
    });
    queue.add('');
    return queue.stop;
  },
});
