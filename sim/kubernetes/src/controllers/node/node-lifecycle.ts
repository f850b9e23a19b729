import { timestamp } from '@tartan/kube/clock';
import { controllerManager } from '../../authentication/user.ts';
import { copy, isObject, type KubeObject } from '../../object.ts';
import type { Resource } from '../../resource.ts';
import type { LoopbackClient } from '../../store/loopback-client.ts';
import { eventRecorder, type Recorder, referenceTo } from '../runtime/event-recorder.ts';
import { asNode, asPod, conditionOf, keyOf, type Node, type Pod, splitKey, type Taint } from '../runtime/objects.ts';
import { watch } from '../runtime/watch.ts';
import { type Controller, type OnError, workQueue } from '../runtime/workqueue.ts';
import { type Health, isStale, observeHealth, unknownConditions } from './node-health.ts';
import { evictionTaint, notReady, swapTaints, unreachable } from './node-taints.ts';
import { sameTaint } from './tolerations.ts';
import { disruption, evictionRateLimiter, type RateLimiter, zoneOf } from './zone-disruption.ts';

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

/** A Pod on an unreachable Node is not ready, whatever its status says. */
const markNotReady = (api: LoopbackClient, pods: Resource, recorder: Recorder, pod: Pod): void => {
  if (conditionOf(pod, 'Ready')?.status !== 'True') return;
  const changed = copy(pod);
  const now = timestamp(api.clock.now());
  for (const condition of changed.status?.conditions ?? []) {
    if (condition.type === 'Ready') Object.assign(condition, { status: 'False', lastTransitionTime: now });
  }
  api.updateStatus(pods, pod.metadata.namespace ?? '', changed, controllerManager);
  recorder.record({
    regarding: referenceTo(pod),
    type: 'Warning',
    reason: 'NodeNotReady',
    message: 'Node is not ready',
  });
};

/** Sets the conditions of Nodes without heartbeats to Unknown, and taints them so that their Pods are evicted. */
export const nodeLifecycle = (onError: OnError): Controller => ({
  name: 'node-lifecycle',
  start: (api) => {
    const nodes = api.find('', 'nodes');
    const pods = api.find('', 'pods');
    if (!nodes || !pods) return () => {};
    const recorder = eventRecorder(api, 'node-controller');
    const health = new Map<string, Health>();
    const known = new Map<string, Node>();
    const rateLimiters = new Map<string, RateLimiter>();

    const taint = (node: Node, add: readonly Taint[], remove: readonly Taint[]): void => {
      const taints = swapTaints(node.spec.taints ?? [], add, remove, api.clock.now());
      if (!taints) return;
      const changed = copy(node);
      if (taints.length > 0) changed.spec.taints = taints;
      else delete changed.spec.taints;
      api.update(nodes, '', changed, controllerManager);
    };

    const recordNodeEvent = (node: Node, reason: string, message: string): void =>
      recorder.record({ regarding: reference(node), type: 'Normal', reason, message });

    const register = (current: readonly Node[]): void => {
      const names = new Set(current.map((node) => node.metadata.name));
      for (const [name, node] of known) {
        if (names.has(name)) continue;
        recordNodeEvent(node, 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`);
        known.delete(name);
        health.delete(name);
      }
      for (const node of current) {
        const { name } = node.metadata;
        if (!known.has(name)) {
          recordNodeEvent(node, 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`);
          // A new Node has no eviction taints.
          taint(node, [], [unreachable, notReady]);
        }
        known.set(name, node);
      }
    };

    const checkHealth = (node: Node): void => {
      const { name } = node.metadata;
      const leases = api.find('coordination.k8s.io', 'leases');
      const lease = leases && api.get(leases, 'kube-node-lease', name);
      const now = api.clock.now();
      const state = observeHealth(health.get(name), node, renewTimeOf(lease), now);
      health.set(name, state);
      const conditions = isStale(state, now) ? unknownConditions(node, now) : undefined;
      if (!conditions) return;
      const changed = copy(node);
      changed.status = { ...changed.status, conditions };
      const written = asNode(api.updateStatus(nodes, '', changed, controllerManager));
      health.set(name, { ...state, ready: conditionOf(written, 'Ready') });
      if (readyStatus(node) !== 'True') return;
      recordNodeEvent(node, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
      for (const pod of api.list(pods, '').map(asPod)) {
        if (pod.spec.nodeName === name) markNotReady(api, pods, recorder, pod);
      }
    };

    const rateLimiterOf = (zone: string): RateLimiter => {
      const found = rateLimiters.get(zone) ?? evictionRateLimiter(api.clock);
      rateLimiters.set(zone, found);
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
      if (tainted || rateLimiterOf(zoneOf(node)).take()) taint(node, [add], [remove]);
    };

    const handleDisruption = (current: readonly Node[]): void => {
      const { allZonesDown, rates } = disruption(current);
      for (const [zone, rate] of rates) rateLimiterOf(zone).setRate(rate);
      if (allZonesDown) for (const node of current) taint(node, [], [unreachable, notReady]);
    };

    const all = (): Node[] => api.list(nodes, '').map(asNode);

    const monitor = workQueue({
      clock: api.clock,
      onError,
      reconcile: () => {
        monitor.addAfter('', monitorEvery);
        register(all());
        for (const node of all()) checkHealth(node);
        handleDisruption(all());
        for (const node of all()) evict(node);
      },
    });
    monitor.add('');

    const assigned = workQueue({
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
