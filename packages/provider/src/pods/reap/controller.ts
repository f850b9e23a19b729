import { buildDetailedEvent, labels, labelValues } from '@tartan/api';
import {
  type Client,
  type Controller,
  createController,
  deleteIfUnchanged,
  done,
  type EventRecorder,
  fromInformer,
  ignoreNotFound,
  isKubeError,
  type Live,
  type Logger,
  type ObjectName,
  pods,
  type Reconciler,
  requestForObject,
  requeueAfter,
  type Resource,
} from '@tartan/kube';
import type { ControllerDeps, Informers, Listers, Node, Pod } from '../../controller-deps.ts';
import { type CoreMachine, ownerMachineOf } from '../../core/kinds.ts';
import { decide, type PodFacts, type Snapshot } from './decide.ts';

interface PodReaperOptions
  extends ControllerDeps,
    Pick<Informers, 'nodes'>,
    Omit<ObserveDeps, 'client' | 'nodes'>,
    Pick<ActDeps, 'events' | 'count'> {
  /** Default: 10 s. Core checks every 20 s whether its drain is over. */
  lookAgainMs?: number;
}

/**
 * Deletes ended Pods on a Mac whose Machine is being deleted, as core's drain would wait for them for ever. Keys are names of Nodes: core
 * cordons before it drains, which triggers; a cordoned Mac is then polled.
 * Needs: get of machines of cluster.x-k8s.io; list, watch of nodes and scalewayapplesiliconmachines; list, watch, delete of pods; create,
 * patch of events.
 */
export const createPodReaper = (options: PodReaperOptions): Controller => {
  const { nodes, lookAgainMs = 10_000 } = options;

  const reconcile: Reconciler = async (name, signal) => {
    const { snapshot, pods } = await observe(options, name, signal);
    const decision = decide(snapshot);
    switch (decision.kind) {
      case 'skip':
        return done;
      case 'wait':
        return requeueAfter(lookAgainMs);
      case 'reap':
        await reapPods(
          options,
          pods.filter(({ metadata }) => decision.uids.includes(metadata.uid)),
          signal,
        );
        return requeueAfter(lookAgainMs);
    }
  };

  return createController({
    ...options,
    name: 'pod-reaper',
    reconcile,
    sources: [fromInformer(nodes, requestForObject, becameCordoned)],
  });
};

/** Nodes change often. Those already cordoned are polled. */
const becameCordoned: Parameters<typeof fromInformer<Node>>[2] = (change) => {
  if (change.type === 'removed' || !isMac(change.object) || !isCordoned(change.object)) return false;
  return change.type !== 'changed' || !isCordoned(change.previous) || !isMac(change.previous);
};

interface ActDeps {
  client: Pick<Client, 'delete'>;
  events: Pick<EventRecorder, 'event'>;
  /** Called after each deleted Pod. */
  count: (phase: ReapedPhase) => void;
  log: Logger;
}

/**
 * Deletes ended Pods. Each delete holds UID and resource version of the Pod that was judged, so it applies to no other Pod or version;
 * after a conflict the Pod is judged again. Idempotent after a crash.
 */
const reapPods = async (
  { client, events, count, log }: ActDeps,
  ended: readonly Live<Pod>[],
  signal: AbortSignal,
): Promise<void> => {
  for (const pod of ended) {
    const { name, namespace, uid } = pod.metadata;
    try {
      await deleteIfUnchanged(client, pods, pod, { signal });
    } catch (error) {
      if (isKubeError(error, 'notFound', 'conflict')) continue;
      throw error;
    }
    const node = pod.spec?.nodeName ?? '';
    log.info('Reaped a Pod that had ended and held up a drain', { namespace, name, uid, node });
    count(reapedPhaseOf(pod));
    events.event(pod, buildDetailedEvent('PodReaped', `The Machine behind the Node ${node} is being deleted.`));
  }
};

export type ReapedPhase = 'succeeded' | 'failed';

const reapedPhaseOf = ({ status }: Live<Pod>): ReapedPhase => (status?.phase === 'Failed' ? 'failed' : 'succeeded');

interface ObserveDeps extends Pick<Listers, 'nodes' | 'machines'> {
  client: Pick<Client, 'get' | 'list'>;
  coreMachines: Resource<CoreMachine>;
}

interface Observation {
  snapshot: Snapshot;
  /** As read, for deletes guarded by their versions. */
  pods: readonly Live<Pod>[];
}

const isMac = ({ metadata }: Node): boolean => metadata?.labels?.[labels.runtime] === labelValues.runtime;
const isCordoned = ({ spec }: Node): boolean => spec?.unschedulable === true;

/**
 * Makes only the reads that are needed: rolls cordon Macs for hours, and Pods are listed only once the Machine is being deleted. The
 * Machine is read before the Pods, both uncached, so the Pods are never older than the deletion.
 */
const observe = async (observer: ObserveDeps, name: string, signal: AbortSignal): Promise<Observation> => {
  const node = observer.nodes.get(name);
  const facts = node && { isMac: isMac(node), cordoned: isCordoned(node) };
  const nothing: Observation = { snapshot: { node: facts, machine: 'unknown', pods: [] }, pods: [] };
  if (node === undefined || !facts?.isMac || !facts.cordoned) return nothing;
  const machine = await readMachineOf(observer, node, signal);
  if (machine !== 'deleting') return { ...nothing, snapshot: { ...nothing.snapshot, machine } };
  const { items } = await observer.client.list(pods, { fieldSelector: `spec.nodeName=${name}`, signal });
  return { snapshot: { node: facts, machine, pods: items.map(factsOf) }, pods: items };
};

/** The Machine that owns the machine of this Node. One that is gone no longer drains. */
const readMachineOf = async (
  { client, machines, coreMachines }: ObserveDeps,
  { metadata, spec }: Live<Node>,
  signal: AbortSignal,
): Promise<Snapshot['machine']> => {
  const ours = machines.byIndex('name', metadata.name).find((each) => each.spec.providerID === spec?.providerID);
  const owner = ours && ownerMachineOf(ours);
  if (owner === undefined) return 'unknown';
  const at: ObjectName = { namespace: ours?.metadata.namespace ?? '', name: owner.name };
  const machine = await ignoreNotFound(client.get(coreMachines, at, { signal }));
  if (machine?.metadata.uid !== owner.uid) return 'unknown';
  return machine.metadata.deletionTimestamp === undefined ? 'staying' : 'deleting';
};

const factsOf = ({ metadata, status }: Live<Pod>): PodFacts => ({
  uid: metadata.uid,
  ended: status?.phase === 'Succeeded' || status?.phase === 'Failed',
  deleting: metadata.deletionTimestamp !== undefined,
});
