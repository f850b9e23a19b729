import { buildEvent, finalizers } from '@tartan/api';
import {
  type CallOptions,
  type Client,
  done,
  type EventInput,
  type EventRecorder,
  hasFinalizer,
  ignoreNotFound,
  isKubeError,
  keyOf,
  type Live,
  type Logger,
  nodes,
  type ObjectName,
  patchIfUnchanged,
  pods,
  type ReconcileResult,
  requeueAfter,
} from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Listers, Pod } from '../controller-deps.ts';
import { decide, type Decision, type NodePresence, type PodFacts, type Snapshot } from './decide.ts';
import type { MissingNodeTracker } from './missing-nodes.ts';

export interface ActDeps {
  observer: ObserveDeps;
  client: Pick<Client, 'get' | 'patch'>;
  events: Pick<EventRecorder, 'event'>;
  /** Called after each Pod whose finalizer was removed. */
  count: (cause: ReleaseCause) => void;
  log: Logger;
}

/** After a conflict: read the Pod again. */
const conflictRequeueMs = 1000;

/**
 * Removes the agent's finalizer from a Pod that the caches say should lose it.
 * Flow: live reads of Pod and Node, a new decision, one merge patch of `metadata.finalizers`.
 * Guarantees: those of `removeVMCleanupFinalizer`. Idempotent after a crash.
 * Caveats: a Node that registers between its read and the patch, within a few milliseconds, is not noticed. Its agent then finds a VM
 * without a Pod, and removes it. The Pod is deleted once no other finalizer is left and its grace period is over: Kubernetes' Pod garbage
 * collector does that for Pods without a Node.
 */
export const releasePod = async (
  releaser: ActDeps,
  name: ObjectName,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  const { observer, client } = releaser;
  const { pod, snapshot } = await observe(observer, liveReader(client), name, { signal });
  const decision = decide(snapshot);
  if (pod === undefined) return done;
  switch (decision.kind) {
    case 'skip':
      // The cache is stale, or its selector leaves this Node out: it may never report the Node's deletion.
      return decision.reason === 'nodeExists' ? requeueAfter(observer.graceMs) : done;
    case 'wait':
      return requeueAfter(decision.forMs);
    case 'release':
      return removeFinalizer(releaser, pod, decision.reason, signal);
  }
};

const removeFinalizer = async (
  { observer, client, events, count, log }: ActDeps,
  pod: Live<Pod>,
  reason: ReleaseCause,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  const removal = await removeVMCleanupFinalizer(client, pod, { signal });
  if (removal.kind === 'gone') return done;
  if (removal.kind === 'changed') return requeueAfter(conflictRequeueMs);
  const { name, namespace, uid } = pod.metadata;
  const node = pod.spec?.nodeName;
  log.info('Released a Pod that no agent is left to clean up', { namespace, name, uid, node, reason });
  count(reason);
  events.event(pod, finalizerRemovedEvent(reason, node, observer.graceMs));
  return done;
};

type Removal =
  /** As the server has stored it. Other finalizers may be left. */
  | { kind: 'removed'; pod: Live<Pod> }
  | { kind: 'gone' }
  /** The Pod has changed since it was read: read it again. */
  | { kind: 'changed' };

/**
 * Removes only the agent's finalizer from a Pod. The patch holds UID and resource version of the Pod that was judged, so it applies to no
 * other Pod or version; finalizers of others stay.
 */
export const removeVMCleanupFinalizer = async (
  client: Pick<Client, 'patch'>,
  pod: Live<Pod>,
  options: CallOptions,
): Promise<Removal> => {
  const others = (pod.metadata.finalizers ?? []).filter((finalizer) => finalizer !== finalizers.vmCleanup);
  const change = { metadata: { finalizers: others } };
  try {
    return { kind: 'removed', pod: await patchIfUnchanged(client, pods, pod, change, options) };
  } catch (error) {
    if (isKubeError(error, 'notFound')) return { kind: 'gone' };
    if (isKubeError(error, 'conflict')) return { kind: 'changed' };
    throw error;
  }
};

export type ReleaseCause = Extract<Decision, { kind: 'release' }>['reason'];

export const finalizerRemovedEvent = (reason: ReleaseCause, node: string | undefined, graceMs: number): EventInput => {
  const done = `Removed the finalizer ${finalizers.vmCleanup}`;
  const seconds = Math.round(graceMs / 1000);
  switch (reason) {
    case 'nodeGone':
      return buildEvent(
        'FinalizerRemoved',
        `${done}: the Node ${node ?? '(unknown)'} has been gone for more than ${seconds} s, so no agent is left to remove the VM of this Pod. If that Mac still runs, its agent collects the VM when it is back, and a wipe does in any case.`,
      );
    case 'neverBound':
      return buildEvent(
        'FinalizerRemoved',
        `${done}: the Pod was deleted more than ${seconds} s ago and never had a Node, so there is no VM to remove.`,
      );
  }
};

/** Reads Pods and Nodes: from caches at first, from the server before a write. */
interface ObjectReader {
  pod(name: ObjectName, options: CallOptions): Promise<Live<Pod> | undefined>;
  hasNode(name: string, options: CallOptions): Promise<boolean>;
}

export const cachedReader = (caches: Pick<Listers, 'pods' | 'nodes'>): ObjectReader => ({
  pod: async (name) => caches.pods.get(keyOf(name)),
  hasNode: async (name) => caches.nodes.get(name) !== undefined,
});

const liveReader = (client: Pick<Client, 'get'>): ObjectReader => ({
  pod: (name, options) => ignoreNotFound(client.get(pods, name, options)),
  hasNode: async (name, options) => (await ignoreNotFound(client.get(nodes, { name }, options))) !== undefined,
});

interface Observation {
  /** As read, for writes guarded by its version. */
  pod: Live<Pod> | undefined;
  snapshot: Snapshot;
}

interface ObserveDeps {
  missingNodes: MissingNodeTracker;
  clock: Clock;
  graceMs: number;
}

/** Reads the Pod and then its Node. The count of a missing Node starts with the first observation and ends when the Node exists. */
export const observe = async (
  { missingNodes, clock, graceMs }: ObserveDeps,
  reader: ObjectReader,
  name: ObjectName,
  options: CallOptions,
): Promise<Observation> => {
  const pod = await reader.pod(name, options);
  const nodeName = pod?.spec?.nodeName;
  const node = await nodePresence(nodeName, reader, missingNodes, options);
  if (nodeName) missingNodes.record(nodeName, node.kind === 'absent');
  return { pod, snapshot: { pod: pod && podFacts(pod), node, now: clock.now(), graceMs } };
};

const nodePresence = async (
  node: string | undefined,
  reader: ObjectReader,
  missingNodes: MissingNodeTracker,
  options: CallOptions,
): Promise<NodePresence> => {
  if (!node) return { kind: 'unbound' };
  if (!(await reader.hasNode(node, options))) return { kind: 'absent', forMs: missingNodes.missingForMs(node) };
  return { kind: 'present' };
};

/** The facts that the decision depends on. */
export const podFacts = (pod: Live<Pod>): PodFacts => {
  const { deletionTimestamp } = pod.metadata;
  return {
    held: hasFinalizer(pod, finalizers.vmCleanup),
    deletedAt: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp),
  };
};
