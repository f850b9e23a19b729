import { daemonSets, getControllerOf, isConditionTrue, keyOf, type Live, namespaces, pods } from '@tartan/kube';
import type { Context, PassOptions } from '../context.ts';
import type { Pod } from '../drain/choose-behavior.ts';
import { planDrain } from '../drain/plan-drain.ts';
import { clusters, type Machine, machineDrainRules, machines } from '../kinds.ts';
import { labels } from '../names.ts';
import { ifThere } from '../writing/found.ts';
import { isDeleting, type Leaving, type Node, type Snapshot } from './snapshot.ts';

/** Undefined: the Machine is gone, or nobody knows its Cluster. */
export const observe = async (
  { client, externals, caches, clock }: Context,
  name: { namespace: string; name: string },
  options: PassOptions,
): Promise<Snapshot | undefined> => {
  const machine = await ifThere(client.get(machines, name, options));
  if (!machine) return undefined;
  const { namespace } = name;
  const clusterName = { namespace, name: machine.spec?.clusterName || '-' };
  // Whether its Cluster goes too decides what becomes of its Node, so one that goes asks the server.
  const cluster = isDeleting(machine)
    ? await ifThere(client.get(clusters, clusterName, options))
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

/** What matters besides when a Machine goes. */
export const observeLeaving = async (context: Context, snapshot: Snapshot, options: PassOptions): Promise<Leaving> => {
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
  options: PassOptions,
): Promise<Leaving['node']> => {
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

/** Those of them that are there: one by one, since there are few kinds of Pods on one Node. */
const daemonSetsOf = async (
  client: Context['client'],
  items: readonly Pod[],
  options: PassOptions,
): Promise<ReadonlySet<string>> => {
  const found = new Set<string>();
  for (const pod of items) {
    const owner = getControllerOf(pod);
    const namespace = pod.metadata?.namespace ?? '';
    if (owner?.kind !== 'DaemonSet') continue;
    const key = keyOf({ namespace, name: owner.name });
    if (!found.has(key) && (await ifThere(client.get(daemonSets, { namespace, name: owner.name }, options))))
      found.add(key);
  }
  return found;
};
