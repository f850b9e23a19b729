import { controllerManager } from '../auth/user.ts';
import { copy } from '../object.ts';
import { ApiError } from '../status/api-error.ts';
import type { Controller } from './controller.ts';
import { keyQueue, type OnError } from './key-queue.ts';
import { withPodCondition } from './pod-condition.ts';
import { sweep } from './pod-sweep.ts';
import { asNode, asPod, isFinished, type Pod } from './shapes.ts';

const every = 20_000;

const nodeIsGone = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByPodGC',
  message: 'PodGC: node no longer exists',
};

/** Removes Pods that no kubelet will ever end: marked Failed, then gone without grace. */
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
        // One that cannot be removed must not keep the others.
        if (!(error instanceof ApiError && error.code === 404)) onError(error, `${namespace}/${name}`);
      }
    };

    const queue = keyQueue({
      clock: api.clock,
      onError,
      reconcile: () => {
        queue.addAfter('', every);
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
