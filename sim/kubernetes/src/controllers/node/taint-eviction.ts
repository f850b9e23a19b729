import { controllerManager } from '../../authentication/user.ts';
import { ApiError } from '../../errors/api-error.ts';
import { copy } from '../../object.ts';
import { eventRecorder } from '../runtime/event-recorder.ts';
import {
  asNode,
  asPod,
  isTerminating,
  keyOf,
  type Pod,
  splitKey,
  type Taint,
  withPodCondition,
} from '../runtime/objects.ts';
import { watch } from '../runtime/watch.ts';
import { type Controller, type OnError, workQueue } from '../runtime/workqueue.ts';
import { tolerationTime } from './tolerations.ts';

const noExecute = (taints: readonly Taint[] | undefined): Taint[] =>
  (taints ?? []).filter(({ effect }) => effect === 'NoExecute');

const condition = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'DeletionByTaintManager',
  message: 'Taint manager: deleting due to NoExecute taint',
};

/** Deletes Pods from Nodes with NoExecute taints, once their toleration time is over. */
export const taintEviction = (onError: OnError): Controller => ({
  name: 'taint-eviction',
  start: (api) => {
    const nodes = api.find('', 'nodes');
    const pods = api.find('', 'pods');
    if (!nodes || !pods) return () => {};
    const recorder = eventRecorder(api, 'taint-eviction-controller');
    /** When the toleration time of each Pod began. */
    const since = new Map<string, number>();

    const recordEvictionEvent = (key: string, text: string): void => {
      const regarding = { apiVersion: 'v1', kind: 'Pod', ...splitKey(key) };
      recorder.record({ regarding, type: 'Normal', reason: 'TaintManagerEviction', message: `${text} Pod ${key}` });
    };

    const evict = (key: string, pod: Pod): void => {
      recordEvictionEvent(key, 'Marking for deletion');
      const { namespace, name } = splitKey(key);
      const status = withPodCondition(pod, condition, api.clock.now());
      if (status) api.updateStatus(pods, namespace, { ...copy(pod), status }, controllerManager);
      try {
        api.delete(pods, namespace, name, controllerManager, { preconditions: { uid: pod.metadata.uid } });
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 404)) throw error;
      }
    };

    const reconcile = (key: string): void => {
      const { namespace, name } = splitKey(key);
      const found = api.get(pods, namespace, name);
      const pod = found && asPod(found);
      const node = pod?.spec.nodeName ? api.get(nodes, '', pod.spec.nodeName) : undefined;
      const taints = node ? noExecute(asNode(node).spec.taints) : [];
      const seconds = pod && !isTerminating(pod) ? tolerationTime(taints, pod.spec.tolerations ?? []) : undefined;
      if (!pod || seconds === undefined || seconds === Number.POSITIVE_INFINITY) {
        if (since.delete(key)) recordEvictionEvent(key, 'Cancelling deletion of');
        return;
      }
      const begin = since.get(key) ?? api.clock.now();
      const left = begin + seconds * 1000 - api.clock.now();
      if (left <= 0) {
        since.delete(key);
        evict(key, pod);
        return;
      }
      since.set(key, begin);
      queue.addAfter(key, left);
    };

    const queue = workQueue({ clock: api.clock, reconcile, onError });
    const stopPods = watch(api, '', 'pods', (current, previous) => {
      const pod = current ?? previous;
      if (pod && asPod(pod).spec.nodeName) queue.add(keyOf(pod));
    });
    const stopNodes = watch(api, '', 'nodes', (current, previous) => {
      const tainted = [current, previous].some((node) => node && noExecute(asNode(node).spec.taints).length > 0);
      if (!tainted) return;
      const name = (current ?? previous)?.metadata.name;
      for (const pod of api.list(pods, '')) if (asPod(pod).spec.nodeName === name) queue.add(keyOf(pod));
    });
    return () => {
      stopPods();
      stopNodes();
      queue.stop();
    };
  },
});
