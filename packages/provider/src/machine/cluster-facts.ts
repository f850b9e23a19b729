import { annotations, labels } from '@tartan/api';
import { keyOf, type WatchCache } from '@tartan/kube';
import type { CoreCluster } from '../cluster/core-cluster.ts';
import { ownerMachineOf } from '../core/machine.ts';
import type { Machine } from './record.ts';
import type { ClusterFacts } from './snapshot.ts';

/** What Cluster API wants of a machine. One that nobody made part of a cluster is worked on as it is. */
export const clusterFacts = (machine: Machine, clusters: Pick<WatchCache<CoreCluster>, 'get'>): ClusterFacts => {
  const { namespace = '', labels: marks = {}, annotations: notes = {} } = machine.metadata;
  const name = marks[labels.clusterName];
  const cluster = name ? clusters.get(keyOf({ namespace, name })) : undefined;
  const pauses = [
    ...(cluster?.spec?.paused === true ? ['Cluster spec.paused is set to true'] : []),
    ...(annotations.paused in notes
      ? [`${machine.kind ?? 'the machine'} has the ${annotations.paused} annotation`]
      : []),
  ];
  return { pauses, waitsFor: missing(machine, name, cluster) };
};

const missing = (machine: Machine, name: string | undefined, cluster: CoreCluster | undefined): string | undefined => {
  const owned = ownerMachineOf(machine) !== undefined;
  if (!name && !owned) return undefined;
  if (!owned) return `It is of the cluster ${name}, but has no owner yet. Cluster API sets it to its Machine.`;
  if (!name) return `Its Machine owns it, but it lacks the label ${labels.clusterName}. Cluster API sets it.`;
  if (cluster === undefined) return `There is no Cluster ${name}.`;
  const { initialization, infrastructureReady } = cluster.status ?? {};
  if (initialization?.infrastructureProvisioned === true || infrastructureReady === true) return undefined;
  return `The infrastructure of the Cluster ${name} is not provisioned yet.`;
};
