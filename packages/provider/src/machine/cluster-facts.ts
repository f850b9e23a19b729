import { labels } from '@tartan/api';
import { keyOf, type WatchCache } from '@tartan/kube';
import type { CoreCluster } from '../cluster/core-cluster.ts';
import { ownerMachineOf } from '../core/machine.ts';
import { clusterNameOf, pausesOf } from '../pause/pauses.ts';
import type { Machine } from './record.ts';
import type { ClusterFacts } from './snapshot.ts';

/** What Cluster API wants of a machine. One that nobody made part of a cluster is worked on as it is. */
export const clusterFacts = (machine: Machine, clusters: Pick<WatchCache<CoreCluster>, 'get'>): ClusterFacts => {
  const name = clusterNameOf(machine);
  const cluster = name && clusters.get(keyOf(name));
  return { pauses: pausesOf(machine, cluster), waitsFor: missing(machine, name?.name, cluster) };
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
