import type { Api } from '../api/api.ts';
import { controllerManager } from '../auth/user.ts';
import { copy, equal, type KubeObject } from '../object.ts';
import type { Controller } from './controller.ts';
import { eventRecorder, referenceTo } from './event-recorder.ts';
import { keyQueue, type OnError } from './key-queue.ts';
import { withPodCondition } from './pod-condition.ts';
import type { Place } from './scheduling/filters.ts';
import { place } from './scheduling/placement.ts';
import { asNode, asPod, isFinished, isTerminating, keyOf, type Pod, splitKey } from './shapes.ts';
import { watch } from './watch.ts';

const schedulerName = 'default-scheduler';

const isWaiting = (pod: Pod): boolean =>
  !pod.spec.nodeName &&
  pod.spec.schedulerName === schedulerName &&
  (pod.spec.schedulingGates ?? []).length === 0 &&
  !isTerminating(pod) &&
  !isFinished(pod);

/** Whether a Node looks different to a scheduler: heartbeats do not count. */
const differs = (current: KubeObject | undefined, previous: KubeObject | undefined): boolean => {
  if (!current || !previous) return true;
  const [now, before] = [asNode(current), asNode(previous)];
  return (
    !equal(now.spec, before.spec) ||
    !equal(now.metadata.labels, before.metadata.labels) ||
    !equal(now.status?.allocatable, before.status?.allocatable)
  );
};

/** Whether room may have become free: a bound Pod has ended or is gone. */
const frees = (current: KubeObject | undefined, previous: KubeObject | undefined): boolean => {
  if (!previous || !asPod(previous).spec.nodeName || isFinished(asPod(previous))) return false;
  return !current || isFinished(asPod(current));
};

const placesOf = (api: Api, pods: readonly Pod[]): Place[] => {
  const nodes = api.find('', 'nodes');
  const byNode = Map.groupBy(
    pods.filter((pod) => !isFinished(pod)),
    (pod) => pod.spec.nodeName ?? '',
  );
  return (nodes ? api.list(nodes, '') : []).map((node) => ({
    node: asNode(node),
    pods: byNode.get(node.metadata.name) ?? [],
  }));
};

/** Binds Pods to Nodes that take them, and says on the others why there is none. */
export const scheduler = (onError: OnError): Controller => ({
  name: 'scheduler',
  start: (api) => {
    const pods = api.find('', 'pods');
    if (!pods) return () => {};
    const recorder = eventRecorder(api, schedulerName);
    const waiting = new Set<string>();

    const refuse = (pod: Pod, message: string): void => {
      const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
      const status = withPodCondition(pod, condition, api.clock.now());
      // The same answer as before: said once is enough.
      if (!status) return;
      recorder.recordAction(
        { about: referenceTo(pod), type: 'Warning', reason: 'FailedScheduling', message },
        'Scheduling',
      );
      api.updateStatus(pods, pod.metadata.namespace ?? '', { ...copy(pod), status }, controllerManager);
    };

    const reconcile = (key: string): void => {
      const { namespace, name } = splitKey(key);
      const found = api.get(pods, namespace, name);
      if (!found || !isWaiting(asPod(found))) return;
      const pod = asPod(found);
      const placement = place(pod, placesOf(api, api.list(pods, '').map(asPod)));
      if ('unschedulable' in placement) {
        refuse(pod, placement.unschedulable);
        return;
      }
      api.bind(namespace, name, placement.node);
      const message = `Successfully assigned ${namespace}/${name} to ${placement.node}`;
      recorder.recordAction({ about: referenceTo(pod), type: 'Normal', reason: 'Scheduled', message }, 'Binding');
    };

    const queue = keyQueue({ clock: api.clock, reconcile, onError });
    const retryAll = (): void => {
      for (const key of waiting) queue.add(key);
    };
    const stopPods = watch(api, '', 'pods', (current, previous) => {
      if (current && isWaiting(asPod(current))) {
        waiting.add(keyOf(current));
        queue.add(keyOf(current));
      } else {
        const gone = current ?? previous;
        if (gone) waiting.delete(keyOf(gone));
      }
      if (frees(current, previous)) retryAll();
    });
    const stopNodes = watch(api, '', 'nodes', (current, previous) => {
      if (differs(current, previous)) retryAll();
    });
    return () => {
      stopPods();
      stopNodes();
      queue.stop();
    };
  },
});
