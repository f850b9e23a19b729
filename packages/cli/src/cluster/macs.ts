import { annotations, labels, labelValues } from '@tartan/api';
import { getCondition, keyOf } from '@tartan/kube';
import { admit } from '@tartan/tart-kubelet/admission';
import type { ClusterState, Host, Machine, Node, Pod } from './state.ts';

/** One Mac, or what should be one, from all sides. At least one of them is there. */
export interface Mac {
  readonly machine: Machine | undefined;
  readonly host: Host | undefined;
  readonly node: Node | undefined;
  /** On its Node, without those that have ended. Undefined: Pods may not be read. */
  readonly pods: readonly Pod[] | undefined;
}

export const isMacNode = ({ metadata }: Node): boolean => metadata.labels?.[labels.runtime] === labelValues.runtime;

export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** Each machine with its Mac and its Node, then Macs that no machine has, then Nodes of Macs that nobody knows. Pure and total. */
export const joinMacs = (world: ClusterState): Mac[] => {
  const index = indexOf(world);
  const machines = [...world.machines].sort(byKey).map((machine): Mac => {
    const node = nodeOf(machine, index);
    return { machine, host: hostOf(machine, index), node, pods: podsOn(node, index) };
  });
  // A Node outlives the claim of its Mac for a while; it stays beside its machine.
  const known = new Set(machines.flatMap(({ host }) => host?.metadata.uid ?? []));
  const seen = new Set(machines.flatMap(({ node }) => node?.metadata.uid ?? []));
  const free = world.hosts
    .filter(({ metadata }) => !known.has(metadata.uid))
    .map((host): Mac => ({ ...noParts, host }));
  const lost = world.nodes
    .filter((node) => isMacNode(node) && !seen.has(node.metadata.uid))
    .map((node): Mac => ({ ...noParts, node, pods: podsOn(node, index) }));
  return [...machines, ...free.sort(byState), ...lost];
};

const noParts = { machine: undefined, host: undefined, node: undefined, pods: undefined };

interface Index {
  readonly hosts: ReadonlyMap<string, Host>;
  /** By the UID of who holds them. */
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

/** What the Mac says comes first: a reservation that was lost to another machine may still be written down. */
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
  // One of another server only happens to bear the name.
  return namesake?.spec?.providerID && namesake.spec.providerID !== spec.providerID ? undefined : namesake;
};

const podsOn = (node: Node | undefined, { pods }: Index): readonly Pod[] | undefined =>
  node === undefined ? undefined : pods && (pods.get(node.metadata.name) ?? []);

const byKey = (a: Machine, b: Machine): number => (keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1);

const stateOrder = ['pool', 'held', 'releasing', 'quarantined', 'stranded', 'abandoned'];
const byState = ({ host: a }: Mac, { host: b }: Mac): number =>
  stateOrder.indexOf(a?.status?.state ?? '') - stateOrder.indexOf(b?.status?.state ?? '') ||
  ((a?.metadata.name ?? '') < (b?.metadata.name ?? '') ? -1 : 1);

/** As its Node says; `Unknown` also when it says nothing. */
export const readinessOf = ({ status }: Node): 'True' | 'False' | 'Unknown' => {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return ready === 'True' || ready === 'False' ? ready : 'Unknown';
};

export const agentOf = ({ metadata }: Node): string | undefined => metadata.annotations?.[annotations.agentVersion];

/** How many virtual machines it takes at a time. */
export const slotsOf = ({ status }: Node): number | undefined => {
  const slots = Number(status?.allocatable?.['pods'] ?? Number.NaN);
  return Number.isFinite(slots) ? slots : undefined;
};

export const isCordoned = ({ spec }: Node): boolean => spec?.unschedulable === true;
export const isCordonedForRoll = ({ metadata }: Node): boolean =>
  annotations.cordonedForRoll in (metadata.annotations ?? {});

/** What its container waits for, in the agent's word. */
export const waitingReasonOf = ({ status }: Pod): { reason: string; message: string } | undefined => {
  const waiting = status?.containerStatuses?.[0]?.state?.waiting;
  return waiting?.reason ? { reason: waiting.reason, message: waiting.message ?? '' } : undefined;
};

/** Those that are, or become, virtual machines. What came to a Mac by mistake takes no slot. */
export const vmPods = (pods: readonly Pod[]): Pod[] =>
  pods.filter((pod) => admit(pod).kind !== 'not for Macs').sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));

const nameOf = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** Why nothing is done to a Mac, as its manager says. */
export const pausesOf = ({ status }: Host): readonly string[] => {
  const said = getCondition(status?.conditions, 'Paused');
  return said?.status === 'True' ? [said.message.replace(/\.$/, '')] : [];
};
