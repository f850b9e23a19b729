import { controllerManager } from '../../authentication/user.ts';
import { copy, equal, type KubeObject } from '../../object.ts';
import type { LoopbackClient } from '../../store/loopback-client.ts';
import { eventRecorder, referenceTo } from '../runtime/event-recorder.ts';
import {
  asNode,
  asPod,
  isFinished,
  isTerminating,
  keyOf,
  type Pod,
  splitKey,
  withPodCondition,
} from '../runtime/objects.ts';
import { watch } from '../runtime/watch.ts';
import { type Controller, type OnError, workQueue } from '../runtime/workqueue.ts';
import { type FilterFailure, namedNodes, type NodeInfo, runFilters } from './filters.ts';

export type ScheduleResult = { node: string } | { unschedulable: string };

const histogram = (reasons: readonly string[]): string => {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
};

/** The words of kube-scheduler. There is no preemption here, so it never helps. */
const failureMessage = (refusals: readonly FilterFailure[]): string => {
  const none = `0/${refusals.length} nodes are available:`;
  const preemption = refusals.map(({ unresolvable }) =>
    unresolvable ? 'Preemption is not helpful for scheduling' : 'No preemption victims found for incoming pod',
  );
  const why = histogram(refusals.flatMap(({ reasons }) => reasons));
  return `${none} ${why}. no new claims to deallocate, preemption: ${none} ${histogram(preemption)}.`;
};

const nodeNotNamed: FilterFailure = {
  reasons: ["node(s) didn't satisfy plugin(s) [NodeAffinity]"],
  unresolvable: true,
};

/** The Node for a Pod: of those that fit, the one with the fewest Pods, then the first by name. */
export const selectNode = (pod: Pod, places: readonly NodeInfo[]): ScheduleResult => {
  if (places.length === 0) return { unschedulable: 'no nodes available to schedule pods' };
  const named = namedNodes(pod);
  if (named?.size === 0) {
    return { unschedulable: `0/${places.length} nodes are available: pod affinity terms conflict. not found` };
  }
  const judged = places.map((candidate) => ({
    candidate,
    refused: named && !named.has(candidate.node.metadata.name) ? nodeNotNamed : runFilters(pod, candidate),
  }));
  const [best] = judged
    .filter(({ refused }) => refused === undefined)
    .map(({ candidate }) => ({ name: candidate.node.metadata.name, count: candidate.pods.length }))
    .sort((a, b) => a.count - b.count || (a.name < b.name ? -1 : 1));
  return best ? { node: best.name } : { unschedulable: failureMessage(judged.flatMap(({ refused }) => refused ?? [])) };
};

const schedulerName = 'default-scheduler';

const isWaiting = (pod: Pod): boolean =>
  !pod.spec.nodeName &&
  pod.spec.schedulerName === schedulerName &&
  (pod.spec.schedulingGates ?? []).length === 0 &&
  !isTerminating(pod) &&
  !isFinished(pod);

/** Whether a change of a Node matters to the scheduler: heartbeats do not. */
const nodeChanged = (current: KubeObject | undefined, previous: KubeObject | undefined): boolean => {
  if (!current || !previous) return true;
  const [now, before] = [asNode(current), asNode(previous)];
  return (
    !equal(now.spec, before.spec) ||
    !equal(now.metadata.labels, before.metadata.labels) ||
    !equal(now.status?.allocatable, before.status?.allocatable)
  );
};

/** Whether a change may have freed resources: a bound Pod has ended or is gone. */
const freesResources = (current: KubeObject | undefined, previous: KubeObject | undefined): boolean => {
  if (!previous || !asPod(previous).spec.nodeName || isFinished(asPod(previous))) return false;
  return !current || isFinished(asPod(current));
};

const nodeInfosOf = (api: LoopbackClient, pods: readonly Pod[]): NodeInfo[] => {
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

/** Binds Pods to Nodes that fit, and sets the condition PodScheduled of the others. */
export const scheduler = (onError: OnError): Controller => ({
  name: 'scheduler',
  start: (api) => {
    const pods = api.find('', 'pods');
    if (!pods) return () => {};
    const recorder = eventRecorder(api, schedulerName);
    const waiting = new Set<string>();

    const markUnschedulable = (pod: Pod, message: string): void => {
      const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
      const status = withPodCondition(pod, condition, api.clock.now());
      // Unchanged condition: no further Event.
      if (!status) return;
      recorder.recordAction(
        { regarding: referenceTo(pod), type: 'Warning', reason: 'FailedScheduling', message },
        'Scheduling',
      );
      api.updateStatus(pods, pod.metadata.namespace ?? '', { ...copy(pod), status }, controllerManager);
    };

    const reconcile = (key: string): void => {
      const { namespace, name } = splitKey(key);
      const found = api.get(pods, namespace, name);
      if (!found || !isWaiting(asPod(found))) return;
      const pod = asPod(found);
      const placement = selectNode(pod, nodeInfosOf(api, api.list(pods, '').map(asPod)));
      if ('unschedulable' in placement) {
        markUnschedulable(pod, placement.unschedulable);
        return;
      }
      api.bind(namespace, name, placement.node);
      const message = `Successfully assigned ${namespace}/${name} to ${placement.node}`;
      recorder.recordAction({ regarding: referenceTo(pod), type: 'Normal', reason: 'Scheduled', message }, 'Binding');
    };

    const queue = workQueue({ clock: api.clock, reconcile, onError });
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
      if (freesResources(current, previous)) retryAll();
    });
    const stopNodes = watch(api, '', 'nodes', (current, previous) => {
      if (nodeChanged(current, previous)) retryAll();
    });
    return () => {
      stopPods();
      stopNodes();
      queue.stop();
    };
  },
});
