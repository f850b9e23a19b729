import type { Api } from '../../api/api.ts';
import { controllerManager } from '../../auth/user.ts';
import { copy, type KubeObject } from '../../object.ts';
import type { Resource } from '../../resource.ts';
import { labelSelectorMatches } from '../../selectors/labels.ts';
import { ApiError } from '../../status/api-error.ts';
import type { Controller } from '../controller.ts';
import { draft } from '../draft.ts';
import { eventRecorder, type Recorder, referenceTo } from '../event-recorder.ts';
import { keyQueue, type OnError } from '../key-queue.ts';
import { asPod, isTerminating, keyOf, type Pod, splitKey } from '../shapes.ts';
import { watch } from '../watch.ts';
import { claim, controllerOf, ownedBy } from './claim.ts';
import { dispensable, isReady } from './pod-rank.ts';
import { isActive, type ReplicaFailure, replicaSetStatus, untilAvailable } from './replica-set-status.ts';
import { asReplicaSet, type ReplicaSet } from './shapes.ts';

/** As many at once as the real controller. */
const burst = 500;

const podFrom = (replicaSet: ReplicaSet): KubeObject => {
  const { metadata = {}, spec = {} } = copy(replicaSet.spec.template);
  const { labels, annotations, finalizers } = metadata;
  return draft(
    'v1',
    'Pod',
    {
      name: '',
      generateName: `${replicaSet.metadata.name}-`,
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ...(finalizers ? { finalizers } : {}),
      ownerReferences: [ownedBy(replicaSet)],
    },
    { spec },
  );
};

/** One ReplicaSet for the length of a pass. */
interface Pass {
  api: Api;
  pods: Resource;
  recorder: Recorder;
  replicaSet: ReplicaSet;
}

const createPods = ({ api, pods, recorder, replicaSet }: Pass, count: number): ReplicaFailure | undefined => {
  const about = referenceTo(replicaSet);
  for (let made = 0; made < Math.min(count, burst); made++) {
    try {
      const { name } = api.create(
        pods,
        replicaSet.metadata.namespace ?? '',
        podFrom(replicaSet),
        controllerManager,
      ).metadata;
      recorder.record({ about, type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${name}` });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const message = `Error creating: ${error.message}`;
      recorder.record({ about, type: 'Warning', reason: 'FailedCreate', message });
      return { reason: 'FailedCreate', message: error.message };
    }
  }
  return undefined;
};

const deletePods = ({ api, pods, recorder, replicaSet }: Pass, chosen: readonly Pod[]): void => {
  for (const pod of chosen) {
    const { namespace = '', name, uid } = pod.metadata;
    api.delete(pods, namespace, name, controllerManager, { preconditions: { uid } });
    const message = `Deleted pod: ${name}`;
    recorder.record({ about: referenceTo(replicaSet), type: 'Normal', reason: 'SuccessfulDelete', message });
  }
};

/** Keeps as many Pods of a template as are wanted: those that fail or vanish are replaced. */
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
        .filter((pod) => isActive(pod) && isReady(pod))
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
      const pass: Pass = { api, pods, recorder, replicaSet };
      let failure: ReplicaFailure | undefined;
      if (!isTerminating(replicaSet)) {
        if (missing > 0) failure = createPods(pass, missing);
        else if (missing < 0) deletePods(pass, dispensable(active, -missing));
      }
      writeStatus(replicaSet, failure);
      if (failure) throw new ApiError(500, 'InternalError', failure.message);
    };

    const queue = keyQueue({ clock: api.clock, reconcile, onError });
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
