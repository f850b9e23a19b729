import type { Api } from '../api/api.ts';
import { controllerManager } from '../auth/user.ts';
import { timestamp } from '@tartan/kube/clock';
import { copy, isObject, type KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Controller } from './controller.ts';
import { eventRecorder, type Recorder, referenceTo } from './event-recorder.ts';
import { keyQueue, type OnError } from './key-queue.ts';
import { disruption, zoneOf } from './node-health/disruption.ts';
import { type Health, isStale, observe, unknownConditions } from './node-health/health.ts';
import { evictionTaint, notReady, swapTaints, unreachable } from './node-health/node-taints.ts';
import { type Pace, pace } from './node-health/pace.ts';
import { asNode, asPod, conditionOf, keyOf, type Node, type Pod, splitKey, type Taint } from './shapes.ts';
import { sameTaint } from './taints.ts';
import { watch } from './watch.ts';

const monitorEvery = 5_000;

const reference = (node: Node) => ({
  apiVersion: 'v1',
  kind: 'Node',
  name: node.metadata.name,
  uid: node.metadata.uid,
});

const readyStatus = (node: Node): string | undefined => conditionOf(node, 'Ready')?.status;

const renewTimeOf = (lease: KubeObject | undefined): string | undefined => {
  const spec = lease?.['spec'];
  return isObject(spec) && typeof spec['renewTime'] === 'string' ? spec['renewTime'] : undefined;
};

/** A Pod on a Node that nobody hears of is not ready, whatever its last words were. */
const markNotReady = (api: Api, pods: Resource, recorder: Recorder, pod: Pod): void => {
  if (conditionOf(pod, 'Ready')?.status !== 'True') return;
  const changed = copy(pod);
  const now = timestamp(api.clock.now());
  for (const condition of changed.status?.conditions ?? []) {
    if (condition.type === 'Ready') Object.assign(condition, { status: 'False', lastTransitionTime: now });
  }
  api.updateStatus(pods, pod.metadata.namespace ?? '', changed, controllerManager);
  recorder.record({
    about: referenceTo(pod),
    type: 'Warning',
    reason: 'NodeNotReady',
    message: 'Node is not ready',
  });
};

/** Notices Nodes that have gone silent, says so in their conditions, and taints them so that their Pods are put off. */
export const nodeLifecycle = (onError: OnError): Controller => ({
  name: 'node-lifecycle',
  start: (api) => {
    const nodes = api.find('', 'nodes');
    const pods = api.find('', 'pods');
    if (!nodes || !pods) return () => {};
    const recorder = eventRecorder(api, 'node-controller');
    const health = new Map<string, Health>();
    const known = new Map<string, Node>();
    const paces = new Map<string, Pace>();

    const taint = (node: Node, add: readonly Taint[], remove: readonly Taint[]): void => {
      const taints = swapTaints(node.spec.taints ?? [], add, remove, api.clock.now());
      if (!taints) return;
      const changed = copy(node);
      if (taints.length > 0) changed.spec.taints = taints;
      else delete changed.spec.taints;
      api.update(nodes, '', changed, controllerManager);
    };

    const tell = (node: Node, reason: string, message: string): void =>
      recorder.record({ about: reference(node), type: 'Normal', reason, message });

    const register = (current: readonly Node[]): void => {
      const names = new Set(current.map((node) => node.metadata.name));
      for (const [name, node] of known) {
        if (names.has(name)) continue;
        tell(node, 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`);
        known.delete(name);
        health.delete(name);
      }
      for (const node of current) {
        const { name } = node.metadata;
        if (!known.has(name)) {
          tell(node, 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`);
          // A Node that has just come starts with a clean slate.
          taint(node, [], [unreachable, notReady]);
        }
        known.set(name, node);
      }
    };

    const examine = (node: Node): void => {
      const { name } = node.metadata;
      const leases = api.find('coordination.k8s.io', 'leases');
      const lease = leases && api.get(leases, 'kube-node-lease', name);
      const now = api.clock.now();
      const state = observe(health.get(name), node, renewTimeOf(lease), now);
      health.set(name, state);
      const conditions = isStale(state, now) ? unknownConditions(node, now) : undefined;
      if (!conditions) return;
      const changed = copy(node);
      changed.status = { ...changed.status, conditions };
      const written = asNode(api.updateStatus(nodes, '', changed, controllerManager));
      health.set(name, { ...state, ready: conditionOf(written, 'Ready') });
      if (readyStatus(node) !== 'True') return;
      tell(node, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
      for (const pod of api.list(pods, '').map(asPod)) {
        if (pod.spec.nodeName === name) markNotReady(api, pods, recorder, pod);
      }
    };

    const paceOf = (zone: string): Pace => {
      const found = paces.get(zone) ?? pace(api.clock);
      paces.set(zone, found);
      return found;
    };

    const evict = (node: Node): void => {
      const status = readyStatus(node);
      if (status === undefined) return;
      if (status === 'True') return taint(node, [], [unreachable, notReady]);
      const { add, remove } = evictionTaint(status);
      const taints = node.spec.taints ?? [];
      if (taints.some((entry) => sameTaint(entry, add))) return;
      const tainted = taints.some((entry) => sameTaint(entry, remove));
      if (tainted || paceOf(zoneOf(node)).take()) taint(node, [add], [remove]);
    };

    const handleDisruption = (current: readonly Node[]): void => {
      const { everywhere, rates } = disruption(current);
      for (const [zone, rate] of rates) paceOf(zone).setRate(rate);
      if (everywhere) for (const node of current) taint(node, [], [unreachable, notReady]);
    };

    const all = (): Node[] => api.list(nodes, '').map(asNode);

    const monitor = keyQueue({
      clock: api.clock,
      onError,
      reconcile: () => {
        monitor.addAfter('', monitorEvery);
        register(all());
        for (const node of all()) examine(node);
        handleDisruption(all());
        for (const node of all()) evict(node);
      },
    });
    monitor.add('');

    const assigned = keyQueue({
      clock: api.clock,
      onError,
      reconcile: (key) => {
        const { namespace, name } = splitKey(key);
        const pod = api.get(pods, namespace, name);
        const node = pod && api.get(nodes, '', asPod(pod).spec.nodeName ?? '');
        const status = node && readyStatus(asNode(node));
        if (pod && status !== undefined && status !== 'True') markNotReady(api, pods, recorder, asPod(pod));
      },
    });
    const stop = watch(api, '', 'pods', (current, previous) => {
      const nodeName = current && asPod(current).spec.nodeName;
      if (nodeName && !(previous && asPod(previous).spec.nodeName === nodeName)) assigned.add(keyOf(current));
    });
    return () => {
      stop();
      monitor.stop();
      assigned.stop();
    };
  },
});
