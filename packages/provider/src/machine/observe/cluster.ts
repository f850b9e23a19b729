import { labels } from '@tartan/api';
import { keyOf } from '@tartan/kube';
import type { ClusterGetter, Machine } from '../../controller-deps.ts';
import { type CoreCluster, ownerMachineOf } from '../../core/kinds.ts';
import { clusterNameOf, pauseReasonsOf } from '../../pause/pauses.ts';
import type { ClusterFacts, Refusal } from '../snapshot.ts';

/** What Cluster API says of a machine, and whether the machine may have a Mac. */
export const clusterFacts = (
  machine: Machine,
  clusters: ClusterGetter,
  allowedNamespaces: readonly string[],
): ClusterFacts => {
  const name = clusterNameOf(machine);
  const cluster = name && clusters.get(keyOf(name));
  return {
    pauseReasons: pauseReasonsOf(machine, cluster),
    refusal: refusalOf(machine, allowedNamespaces),
    waitingFor: missingPrerequisite(machine, name?.name, cluster),
  };
};

/**
 * A machine becomes a Node: a user who may create one anywhere would get the identity of a Node. So it must be in an allowed namespace and
 * part of a Cluster. Checked before a Mac is claimed and before the first identity; never for a provisioned machine, whose Node would be
 * lost.
 */
export const refusalOf = (machine: Machine, allowedNamespaces: readonly string[]): Refusal | undefined => {
  const { namespace = '', labels: machineLabels = {} } = machine.metadata;
  if (!allowedNamespaces.includes(namespace))
    return {
      reason: 'NamespaceNotAllowed',
      message: `This manager claims Macs for machines in ${allowedNamespaces.join(', ') || 'no namespace'}, not in ${namespace}. Create the machine there, or add ${namespace} to --machine-namespaces.`,
    };
  if (machineLabels[labels.clusterName] || ownerMachineOf(machine) !== undefined) return undefined;
  return {
    reason: 'NotInCluster',
    message: `It has neither the label ${labels.clusterName} nor a Machine of Cluster API as its owner. Create a Machine that refers to it, or a MachineDeployment: Cluster API then sets both.`,
  };
};

const missingPrerequisite = (
  machine: Machine,
  name: string | undefined,
  cluster: CoreCluster | undefined,
): string | undefined => {
  const owned = ownerMachineOf(machine) !== undefined;
  if (!name && !owned) return undefined;
  if (!owned) return `It is of the cluster ${name}, but has no owner yet. Cluster API sets it to its Machine.`;
  if (!name) return `Its Machine owns it, but it lacks the label ${labels.clusterName}. Cluster API sets it.`;
  if (cluster === undefined) return `There is no Cluster ${name}.`;
  const { initialization, infrastructureReady } = cluster.status ?? {};
  if (initialization?.infrastructureProvisioned === true || infrastructureReady === true) return undefined;
  return `The infrastructure of the Cluster ${name} is not provisioned yet.`;
};
