import { kindNames, runnersLeaderElectionID } from '@tartan/api';
import { type Explained, type Rights, right, withoutReasons } from '@tartan/kube';

const follow = ['list', 'watch'] as const;
const { group, plural } = kindNames.runnerPool;

const clusterWide: readonly Explained[] = [
  right('', 'nodes', ['get', ...follow], 'whether a Mac is cordoned, silent or gone. Nodes belong to no namespace'),
];

const besidePools: readonly Explained[] = [
  right(group, plural, [...follow, 'patch'], 'which runners are wanted; the finalizer that waits for their jobs'),
  right(group, `${plural}/status`, ['patch'], 'to say how each pool is'),
  right(
    '',
    'pods',
    ['get', ...follow, 'create', 'patch', 'delete'],
    'the runners. One is looked at once more, uncached, before it is deleted',
  ),
  right('', 'serviceaccounts', [...follow, 'create', 'delete'], 'one for each Pod, which nothing is bound to'),
  right(
    '',
    'secrets',
    ['get', 'create'],
    'the GitHub Apps of pools, by their names; the configuration of each runner, which goes with its Pod',
  ),
  right('', 'events', ['create', 'patch'], 'to tell what was done'),
];

/** RBAC cannot name what is yet to be created. */
const leaseRights: readonly Explained[] = [
  right('coordination.k8s.io', 'leases', ['create'], 'so that one controller leads'),
  right('coordination.k8s.io', `leases ${runnersLeaderElectionID}`, ['get', 'update'], 'the same'),
];

interface Where {
  /** Of the pools. */
  readonly namespace: string;
  /** Where the lease is. */
  readonly leaderElection: { readonly namespace: string } | undefined;
}

/** All that the runners controller asks of Kubernetes, and nothing else: the chart's roles are made from this. */
export const explainedRunnersRights = ({ namespace, leaderElection }: Where): Rights<Explained> => {
  const elsewhere = leaderElection && leaderElection.namespace !== namespace ? leaderElection.namespace : undefined;
  return {
    clusterWide,
    inNamespace: {
      [namespace]: [...besidePools, ...(leaderElection && elsewhere === undefined ? leaseRights : [])],
      ...(elsewhere !== undefined && { [elsewhere]: leaseRights }),
    },
  };
};

/** The same as Kubernetes takes it. */
export const runnersRights = (where: Where): Rights => withoutReasons(explainedRunnersRights(where));
