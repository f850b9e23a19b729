import {
  daemonSets,
  getControllerOf,
  isConditionTrue,
  keyOf,
  type Live,
  namespaces,
  type nodes,
  pods,
} from '@tartan/kube';
import type { Context, ReconcileOptions } from '../context.ts';
import type { External } from '../external/object-tracker.ts';
import {
  type Cluster,
  clusters,
  type Machine,
  type MachineDeployment,
  machineDrainRules,
  machines,
  type MachineSet,
} from '../kinds.ts';
import { labels } from '../names.ts';
import { ignoreNotFound } from '../writes.ts';
import { type DrainPlan, planDrain, type Pod } from './drain.ts';

export type Node = NonNullable<(typeof nodes)['ofType']>;

/** The observed state of a Machine. */
export interface Snapshot {
  readonly machine: Live<Machine>;
  readonly cluster: Live<Cluster>;
  /** Its owner, if it has one. */
  readonly machineSet: Live<MachineSet> | undefined;
  readonly machineDeployment: Live<MachineDeployment> | undefined;
  /** Undefined when the Machine refers to none. */
  readonly infrastructure: External | undefined;
  /** Nodes with its provider ID. More than one is a mistake. Empty without a connection to the cluster. */
  readonly nodes: readonly Live<Node>[];
  /** Whether core can read Nodes. */
  readonly connected: boolean;
  readonly now: number;
}

/** Additional facts for a deletion. */
export interface DeletionFacts {
  readonly controlPlane: External | undefined;
  readonly controlPlaneMachines: number;
  /** Undefined if it has none, or it cannot be read. */
  readonly node: { readonly cordoned: boolean; readonly unreachable: boolean; readonly drain: DrainPlan } | undefined;
}

export const isDeleting = ({ metadata }: { metadata: { deletionTimestamp?: string } }): boolean =>
  metadata.deletionTimestamp !== undefined;

/** Undefined: the Machine is gone, or its Cluster does not exist. */
export const observe = async (
  { client, externals, caches, clock }: Context,
  name: { namespace: string; name: string },
  options: ReconcileOptions,
): Promise<Snapshot | undefined> => {
  const machine = await ignoreNotFound(client.get(machines, name, options));
  if (!machine) return undefined;
  const { namespace } = name;
  const clusterName = { namespace, name: machine.spec?.clusterName || '-' };
  // A deletion reads the Cluster live: whether it is being deleted too decides about the Node.
  const cluster = isDeleting(machine)
    ? await ignoreNotFound(client.get(clusters, clusterName, options))
    : caches.clusters.get(keyOf(clusterName));
  if (!cluster) return undefined;
  const owner = getControllerOf(machine);
  const machineSet =
    owner?.kind === 'MachineSet' ? caches.machineSets.get(keyOf({ namespace, name: owner.name })) : undefined;
  const deploymentName = machineSet?.metadata.labels?.[labels.deploymentName];
  const machineDeployment =
    deploymentName === undefined
      ? undefined
      : caches.machineDeployments.get(keyOf({ namespace, name: deploymentName }));
  const ref = machine.spec?.infrastructureRef;
  const infrastructure = ref && (await externals.read(namespace, ref, options));
  const connected =
    isConditionTrue(cluster.status?.conditions, 'ControlPlaneInitialized') &&
    isConditionTrue(cluster.status?.conditions, 'RemoteConnectionProbe');
  return {
    machine,
    cluster,
    machineSet,
    machineDeployment,
    infrastructure,
    nodes: connected ? nodesOf(caches, machine) : [],
    connected,
    now: clock.now(),
  };
};

export const nodesOf = ({ nodes }: Context['caches'], { spec }: Machine): Live<Node>[] =>
  spec?.providerID ? nodes.byIndex('providerID', spec.providerID) : [];

/** Reads the additional facts for a deletion. */
export const observeDeletion = async (
  context: Context,
  snapshot: Snapshot,
  options: ReconcileOptions,
): Promise<DeletionFacts> => {
  const { client, externals } = context;
  const { machine, cluster } = snapshot;
  const { namespace = '' } = machine.metadata;
  const ref = cluster.spec?.controlPlaneRef;
  const ofCluster = await client.list(machines, {
    namespace,
    labelSelector: `${labels.clusterName}=${cluster.metadata.name},${labels.controlPlane}`,
    ...options,
  });
  return {
    controlPlane: ref && (await externals.read(namespace, ref, options)),
    controlPlaneMachines: ofCluster.items.filter((each) => !isDeleting(each)).length,
    node: await observeNode(context, snapshot, options),
  };
};

const observeNode = async (
  { client, clock, caches }: Context,
  snapshot: Snapshot,
  options: ReconcileOptions,
): Promise<DeletionFacts['node']> => {
  const { machine, cluster, connected } = snapshot;
  const name = machine.status?.nodeRef?.name ?? snapshot.nodes[0]?.metadata.name;
  const node = name === undefined ? undefined : caches.nodes.get(name);
  if (!connected || !node) return undefined;
  const { items } = await client.list(pods, { fieldSelector: `spec.nodeName=${node.metadata.name}`, ...options });
  const { namespace = '', labels: machineLabels } = machine.metadata;
  const [rules, spaces] = await Promise.all([
    client.list(machineDrainRules, { namespace, ...options }),
    client.list(namespaces, options),
  ]);
  const unreachable =
    node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'Unknown') ?? false;
  const drain = planDrain(items, {
    machineLabels,
    clusterLabels: cluster.metadata.labels,
    rules: rules.items,
    namespaceLabels: new Map(spaces.items.map(({ metadata }) => [metadata.name, metadata.labels])),
    daemonSets: await daemonSetsOf(client, items, options),
    unreachable,
    now: clock.now(),
  });
  return { cordoned: node.spec?.unschedulable === true, unreachable, drain };
};

/** The existing ones, read one by one, since a Node has Pods of few DaemonSets. */
const daemonSetsOf = async (
  client: Context['client'],
  items: readonly Pod[],
  options: ReconcileOptions,
): Promise<ReadonlySet<string>> => {
  const found = new Set<string>();
  for (const pod of items) {
    const owner = getControllerOf(pod);
    const namespace = pod.metadata?.namespace ?? '';
    if (owner?.kind !== 'DaemonSet') continue;
    const key = keyOf({ namespace, name: owner.name });
    if (!found.has(key) && (await ignoreNotFound(client.get(daemonSets, { namespace, name: owner.name }, options))))
      found.add(key);
  }
  return found;
};
