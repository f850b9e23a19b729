import { annotations, labels, labelValues } from '@tartan/api';
import { getCondition, keyOf, type KubeObject, type Live } from '@tartan/kube';
import { admit } from '@tartan/tart-kubelet/admission';
import type { ClusterState, Host, Machine, Node, Pod } from './state.ts';

/** The objects of one Mac. At least one of them exists. */
export interface Mac {
  readonly machine: Machine | undefined;
  readonly host: Host | undefined;
  readonly node: Node | undefined;
  /** On its Node, without ended ones. Undefined: the user may not read Pods. */
  readonly pods: readonly Pod[] | undefined;
}

export const isMacNode = ({ metadata }: Node): boolean => metadata.labels?.[labels.runtime] === labelValues.runtime;

export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** Machines with their Macs and Nodes, then Macs without a machine, then Nodes of Macs without both. Pure and total. */
export const joinMacs = (state: ClusterState): Mac[] => {
  const index = indexOf(state);
  const machines = [...state.machines].sort(byKey).map((machine) => joinMachine(machine, index));
  // A Node outlives the claim of its Mac; it stays with its machine.
  const knownHosts = new Set(machines.flatMap(({ host }) => host?.metadata.uid ?? []));
  const knownNodes = new Set(machines.flatMap(({ node }) => node?.metadata.uid ?? []));
  const free = state.hosts
    .filter(({ metadata }) => !knownHosts.has(metadata.uid))
    .map((host): Mac => ({ ...noParts, host }));
  const others = state.nodes
    .filter((node) => isMacNode(node) && !knownNodes.has(node.metadata.uid))
    .map((node): Mac => ({ ...noParts, node, pods: podsOn(node, index) }));
  return [...machines, ...free.sort(byState), ...others];
};

const joinMachine = (machine: Machine, index: Index): Mac => {
  const node = nodeOf(machine, index);
  return { machine, host: hostOf(machine, index), node, pods: podsOn(node, index) };
};

/** The Mac of one machine. */
export const macOf = (machine: Machine, state: ClusterState): Mac => joinMachine(machine, indexOf(state));

const noParts = { machine: undefined, host: undefined, node: undefined, pods: undefined };

interface Index {
  readonly hosts: ReadonlyMap<string, Host>;
  /** By the UID of the machine that holds them. */
  readonly held: ReadonlyMap<string, Host>;
  readonly nodes: ReadonlyMap<string, Node>;
  readonly nodesByProviderID: ReadonlyMap<string, Node>;
  /** By Node. */
  readonly pods: ReadonlyMap<string, readonly Pod[]> | undefined;
}

const indexOf = ({ hosts, nodes, pods }: ClusterState): Index => ({
  hosts: new Map(hosts.map((host) => [host.metadata.name, host])),
  held: new Map(hosts.flatMap((host) => (host.spec.consumerRef ? [[host.spec.consumerRef.uid, host] as const] : []))),
  nodes: new Map(nodes.map((node) => [node.metadata.name, node])),
  nodesByProviderID: new Map(
    nodes.flatMap((node) => (node.spec?.providerID ? [[node.spec.providerID, node] as const] : [])),
  ),
  pods:
    pods &&
    Map.groupBy(
      pods.filter((pod) => !hasEnded(pod)),
      ({ spec }) => spec?.nodeName ?? '',
    ),
});

/** The claim of the Mac comes first: the status of a machine may name a Mac that another machine has claimed. */
const hostOf = ({ metadata, status }: Machine, { hosts, held }: Index): Host | undefined => {
  const mine = held.get(metadata.uid);
  if (mine !== undefined) return mine;
  const reserved = status?.serverID ? hosts.get(status.serverID) : undefined;
  return reserved?.spec.consumerRef === undefined ? reserved : undefined;
};

const nodeOf = ({ metadata, spec }: Machine, { nodes, nodesByProviderID }: Index): Node | undefined => {
  const bound = spec.providerID ? nodesByProviderID.get(spec.providerID) : undefined;
  if (bound !== undefined) return bound;
  const namesake = nodes.get(metadata.name);
  // A Node of another server may have the same name.
  return namesake?.spec?.providerID && namesake.spec.providerID !== spec.providerID ? undefined : namesake;
};

const podsOn = (node: Node | undefined, { pods }: Index): readonly Pod[] | undefined =>
  node === undefined ? undefined : pods && (pods.get(node.metadata.name) ?? []);

/** By namespace and name. */
export const byKey = (a: Live<KubeObject>, b: Live<KubeObject>): number =>
  keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1;

const stateOrder = ['pool', 'held', 'releasing', 'quarantined', 'stranded', 'abandoned'];
const byState = ({ host: a }: Mac, { host: b }: Mac): number =>
  stateOrder.indexOf(a?.status?.state ?? '') - stateOrder.indexOf(b?.status?.state ?? '') ||
  ((a?.metadata.name ?? '') < (b?.metadata.name ?? '') ? -1 : 1);

/** `Unknown` also without a condition. */
export const readinessOf = ({ status }: Pick<Node, 'status'>): 'True' | 'False' | 'Unknown' => {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return ready === 'True' || ready === 'False' ? ready : 'Unknown';
};

export const readinessText = (node: Node): 'Ready' | 'not Ready' | 'not reporting' =>
  (({ True: 'Ready', False: 'not Ready', Unknown: 'not reporting' }) as const)[readinessOf(node)];

/** It has no Mac yet, and needs one. */
export const isWaiting = ({ metadata, status }: Machine): boolean => !status?.serverID && !metadata.deletionTimestamp;

export const agentOf = ({ metadata }: KubeObject): string | undefined =>
  metadata?.annotations?.[annotations.agentVersion];

/** The number of virtual machines that it can run at once. */
export const slotsOf = ({ status }: Node): number | undefined => {
  const slots = Number(status?.allocatable?.['pods'] ?? Number.NaN);
  return Number.isFinite(slots) ? slots : undefined;
};

export const isCordoned = ({ spec }: Node): boolean => spec?.unschedulable === true;
export const isCordonedForRoll = ({ metadata }: Node): boolean =>
  annotations.cordonedForRoll in (metadata.annotations ?? {});

/** The waiting reason of its container, as the agent reports it. */
export const waitingReasonOf = ({ status }: Pod): { reason: string; message: string } | undefined => {
  const waiting = status?.containerStatuses?.[0]?.state?.waiting;
  return waiting?.reason ? { reason: waiting.reason, message: waiting.message ?? '' } : undefined;
};

/** Pods that are, or become, virtual machines. Other Pods on a Mac use no slot. */
export const vmPods = (pods: readonly Pod[]): Pod[] =>
  pods.filter((pod) => admit(pod).kind !== 'not for Macs').sort(byKey);

/** Why the manager leaves a Mac alone, by its condition. */
export const pausesOf = ({ status }: Host): readonly string[] => {
  const paused = getCondition(status?.conditions, 'Paused');
  return paused?.status === 'True' ? [paused.message.replace(/\.$/, '')] : [];
};
