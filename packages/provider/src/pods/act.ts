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
  /** Called once for each Pod let go. */
  count: (cause: ReleaseCause) => void;
  log: Logger;
}

/** Somebody else has written the Pod: look at what it is now. */
const conflictRequeueMs = 1000;

/**
 * Removes the agent's finalizer from a Pod that the caches say should lose it.
 *
 * Flow: Pod and Node read anew from the server, decided anew on what they are, one merge patch of `metadata.finalizers`.
 * Guarantees: those of `removeVMCleanupFinalizer`. To repeat it after a crash does nothing more.
 * Caveats: a Node that registers between the second read and the patch is not noticed, a few milliseconds. Its agent then finds a VM
 * without a Pod, which it collects. The Pod itself goes once nobody else holds it and its deletion has no grace period left: the
 * Pod garbage collector of Kubernetes sees to that for Pods without a Node.
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
    case 'leave':
      // The cache is behind, or was told to hold fewer Nodes than there are: it may never tell when this one goes.
      return decision.because === 'nodeExists' ? requeueAfter(observer.graceMs) : done;
    case 'wait':
      return requeueAfter(decision.forMs);
    case 'release':
      return removeFinalizer(releaser, pod, decision.because, signal);
  }
};

const removeFinalizer = async (
  { observer, client, events, count, log }: ActDeps,
  pod: Live<Pod>,
  because: ReleaseCause,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  const removal = await removeVMCleanupFinalizer(client, pod, { signal });
  if (removal.kind === 'gone') return done;
  if (removal.kind === 'changed') return requeueAfter(conflictRequeueMs);
  const { name, namespace, uid } = pod.metadata;
  const node = pod.spec?.nodeName;
  log.info('Released a Pod that no agent is left to clean up', { namespace, name, uid, node, because });
  count(because);
  events.event(pod, finalizerRemovedEvent(because, node, observer.graceMs));
  return done;
};

type Removal =
  /** As the server has stored it. Others may still hold it. */
  | { kind: 'removed'; pod: Live<Pod> }
  | { kind: 'gone' }
  /** Somebody has written the Pod since it was read: look at what it is now. */
  | { kind: 'changed' };

/**
 * Takes the agent's finalizer from a Pod, and nothing else. The patch holds UID and resource version of the Pod that was judged, so it
 * meets no other Pod and no other state of it; finalizers of others stay.
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

export type ReleaseCause = Extract<Decision, { kind: 'release' }>['because'];

export const finalizerRemovedEvent = (because: ReleaseCause, node: string | undefined, graceMs: number): EventInput => {
  const done = `Removed the finalizer ${finalizers.vmCleanup}`;
  const seconds = Math.round(graceMs / 1000);
  switch (because) {
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

/** Where Pods and Nodes are looked up: in the caches for a first look, on the server before anything is written. */
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
  /** As it was read, for whoever writes it. */
  pod: Live<Pod> | undefined;
  snapshot: Snapshot;
}

interface ObserveDeps {
  missingNodes: MissingNodeTracker;
  clock: Clock;
  graceMs: number;
}

/**
 * The Pod first and then the Node that this very Pod names. The count of a missing Node begins with the first observation and ends when it is
 * there.
 */
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

/** What of a Pod the decision hangs on. */
export const podFacts = (pod: Live<Pod>): PodFacts => {
  const { deletionTimestamp } = pod.metadata;
  return {
    held: hasFinalizer(pod, finalizers.vmCleanup),
    deletedAt: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp),
  };
};
