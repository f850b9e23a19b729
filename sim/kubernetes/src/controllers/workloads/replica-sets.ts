import { timestamp } from '@tartan/kube/clock';
import { controllerManager } from '../../authentication/user.ts';
import { ApiError } from '../../errors/api-error.ts';
import { copy, type KubeObject } from '../../object.ts';
import type { Resource } from '../../resource.ts';
import { labelSelectorMatches } from '../../selectors/label-selector.ts';
import type { LoopbackClient } from '../../store/loopback-client.ts';
import { eventRecorder, type Recorder, referenceTo } from '../runtime/event-recorder.ts';
import {
  asPod,
  type Condition,
  conditionOf,
  isFinished,
  isTerminating,
  keyOf,
  newObject,
  type Pod,
  splitKey,
} from '../runtime/objects.ts';
import { watch } from '../runtime/watch.ts';
import { type Controller, type OnError, workQueue } from '../runtime/workqueue.ts';
import { claim, controllerOf, controllerRef } from './controller-ref.ts';
import { asReplicaSet, type ReplicaSet, type ReplicaSetStatus } from './objects.ts';

/** Which Pods to delete first when there are too many. */

const phases = ['Pending', 'Unknown', 'Running'];

const costAnnotation = 'controller.kubernetes.io/pod-deletion-cost';

const costOf = ({ metadata }: Pod): number => Number(metadata.annotations?.[costAnnotation] ?? 0) || 0;

const isPodReady = (pod: Pod): boolean => conditionOf(pod, 'Ready')?.status === 'True';

const readySince = (pod: Pod): number => Date.parse(conditionOf(pod, 'Ready')?.lastTransitionTime ?? '') || 0;

interface Ranked {
  pod: Pod;
  /** How many Pods of the same ReplicaSet are on its Node. */
  neighbours: number;
}

const compare = (a: Ranked, b: Ranked): number => {
  const [one, other] = [a.pod, b.pod];
  const ready = Number(isPodReady(one)) - Number(isPodReady(other));
  return (
    Number(Boolean(one.spec.nodeName)) - Number(Boolean(other.spec.nodeName)) ||
    phases.indexOf(one.status?.phase ?? '') - phases.indexOf(other.status?.phase ?? '') ||
    ready ||
    costOf(one) - costOf(other) ||
    b.neighbours - a.neighbours ||
    readySince(other) - readySince(one) ||
    Date.parse(other.metadata.creationTimestamp) - Date.parse(one.metadata.creationTimestamp) ||
    (one.metadata.uid < other.metadata.uid ? -1 : 1)
  );
};

/** `count` of the Pods, those that serve least first. */
export const podsToDelete = (pods: readonly Pod[], count: number): Pod[] => {
  const perNode = Map.groupBy(pods, (pod) => pod.spec.nodeName ?? '');
  return pods
    .map((pod) => ({ pod, neighbours: pod.spec.nodeName ? (perNode.get(pod.spec.nodeName)?.length ?? 0) : 0 }))
    .sort(compare)
    .slice(0, count)
    .map(({ pod }) => pod);
};

/** Why Pods could not be created or deleted. */
interface ReplicaFailure {
  reason: 'FailedCreate' | 'FailedDelete';
  message: string;
}

const isActive = (pod: Pod): boolean => !isFinished(pod) && !isTerminating(pod);

/** Milliseconds until a ready Pod counts as available; 0 when it does. */
const untilAvailable = (pod: Pod, minReadySeconds: number, now: number): number => {
  if (minReadySeconds === 0) return 0;
  const since = Date.parse(conditionOf(pod, 'Ready')?.lastTransitionTime ?? '');
  return Number.isNaN(since) ? minReadySeconds * 1000 : Math.max(0, since + minReadySeconds * 1000 - now);
};

const failureCondition = (old: Condition | undefined, failure: ReplicaFailure, now: number): Condition =>
  old ?? { type: 'ReplicaFailure', status: 'True', lastTransitionTime: timestamp(now), ...failure };

const fits = (pod: Pod, replicaSet: ReplicaSet): boolean =>
  Object.entries(replicaSet.spec.template.metadata?.labels ?? {}).every(
    ([key, value]) => pod.metadata.labels?.[key] === value,
  );

/** The status of a ReplicaSet. `pods` are all that it owns, including finished ones. */
const replicaSetStatus = (
  replicaSet: ReplicaSet,
  pods: readonly Pod[],
  failure: ReplicaFailure | undefined,
  now: number,
): ReplicaSetStatus => {
  const { minReadySeconds = 0 } = replicaSet.spec;
  const active = pods.filter(isActive);
  const ready = active.filter(isPodReady);
  const conditions = replicaSet.status.conditions ?? [];
  const others = conditions.filter(({ type }) => type !== 'ReplicaFailure');
  const old = conditions.find(({ type }) => type === 'ReplicaFailure');
  const next = failure ? [...others, failureCondition(old, failure, now)] : others;
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.filter((pod) => fits(pod, replicaSet)).length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => untilAvailable(pod, minReadySeconds, now) === 0).length,
    terminatingReplicas: pods.filter((pod) => isTerminating(pod) && !isFinished(pod)).length,
    observedGeneration: replicaSet.metadata.generation ?? 0,
    ...(next.length > 0 ? { conditions: next } : {}),
  };
};

/** As many Pods per pass as the real controller. */
const burst = 500;

const podFrom = (replicaSet: ReplicaSet): KubeObject => {
  const { metadata = {}, spec = {} } = copy(replicaSet.spec.template);
  const { labels, annotations, finalizers } = metadata;
  return newObject(
    'v1',
    'Pod',
    {
      name: '',
      generateName: `${replicaSet.metadata.name}-`,
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ...(finalizers ? { finalizers } : {}),
      ownerReferences: [controllerRef(replicaSet)],
    },
    { spec },
  );
};

/** One reconcile of one ReplicaSet. */
interface ReconcileContext {
  api: LoopbackClient;
  pods: Resource;
  recorder: Recorder;
  replicaSet: ReplicaSet;
}

const createPods = (
  { api, pods, recorder, replicaSet }: ReconcileContext,
  count: number,
): ReplicaFailure | undefined => {
  const regarding = referenceTo(replicaSet);
  for (let made = 0; made < Math.min(count, burst); made++) {
    try {
      const { name } = api.create(
        pods,
        replicaSet.metadata.namespace ?? '',
        podFrom(replicaSet),
        controllerManager,
      ).metadata;
      recorder.record({ regarding, type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${name}` });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const message = `Error creating: ${error.message}`;
      recorder.record({ regarding, type: 'Warning', reason: 'FailedCreate', message });
      return { reason: 'FailedCreate', message: error.message };
    }
  }
  return undefined;
};

const deletePods = ({ api, pods, recorder, replicaSet }: ReconcileContext, chosen: readonly Pod[]): void => {
  for (const pod of chosen) {
    const { namespace = '', name, uid } = pod.metadata;
    api.delete(pods, namespace, name, controllerManager, { preconditions: { uid } });
    const message = `Deleted pod: ${name}`;
    recorder.record({ regarding: referenceTo(replicaSet), type: 'Normal', reason: 'SuccessfulDelete', message });
  }
};

/** Keeps the wanted number of Pods of a template: failed or deleted Pods are replaced. */
export const replicaSets = (onError: OnError): Controller => ({
  name: 'replicaset',
  start: (api) => {
    const resource = api.find('apps', 'replicasets');
    const pods = api.find('', 'pods');
    if (!resource || !pods) return () => {};
    const recorder = eventRecorder(api, 'replicaset-controller');

    const writeStatus = (replicaSet: ReplicaSet, failure: ReplicaFailure | undefined): void => {
      const { namespace = '' } = replicaSet.metadata;
      const owned = claim(api, pods, replicaSet).map(asPod);
      const now = api.clock.now();
      const status = replicaSetStatus(replicaSet, owned, failure, now);
      const waits = owned
        .filter((pod) => isActive(pod) && isPodReady(pod))
        .map((pod) => untilAvailable(pod, replicaSet.spec.minReadySeconds ?? 0, now))
        .filter((wait) => wait > 0);
      if (waits.length > 0) queue.addAfter(keyOf(replicaSet), Math.min(...waits));
      api.updateStatus(resource, namespace, { ...copy(replicaSet), status }, controllerManager);
    };

    const reconcile = (key: string): void => {
      const { namespace, name } = splitKey(key);
      const replicaSet = asReplicaSet(api.get(resource, namespace, name));
      if (!replicaSet) return;
      const active = claim(api, pods, replicaSet).map(asPod).filter(isActive);
      const missing = replicaSet.spec.replicas - active.length;
      const pass: ReconcileContext = { api, pods, recorder, replicaSet };
      let failure: ReplicaFailure | undefined;
      if (!isTerminating(replicaSet)) {
        if (missing > 0) failure = createPods(pass, missing);
        else if (missing < 0) deletePods(pass, podsToDelete(active, -missing));
      }
      writeStatus(replicaSet, failure);
      if (failure) throw new ApiError(500, 'InternalError', failure.message);
    };

    const queue = workQueue({ clock: api.clock, reconcile, onError });
    const ownersOf = (pod: KubeObject): string[] => {
      const { namespace = '' } = pod.metadata;
      const controller = controllerOf(pod);
      if (controller) return controller.kind === 'ReplicaSet' ? [`${namespace}/${controller.name}`] : [];
      return api.list(resource, namespace).flatMap((object) => {
        const replicaSet = asReplicaSet(object);
        return replicaSet && labelSelectorMatches(replicaSet.spec.selector, pod.metadata.labels) ? [keyOf(object)] : [];
      });
    };
    const stopSets = watch(api, 'apps', 'replicasets', (current) => current && queue.add(keyOf(current)));
    const stopPods = watch(api, '', 'pods', (current, previous) => {
      for (const pod of [current, previous]) if (pod) for (const key of ownersOf(pod)) queue.add(key);
    });
    return () => {
      stopSets();
      stopPods();
      queue.stop();
    };
  },
});
