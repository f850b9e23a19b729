import { kindNames, leaderElectionID, remoteServiceAccount } from '@tartan/api';
import { coreGroup } from '../cluster/core-cluster.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';
import { identityRights } from '../identity/index.ts';

/** A rule of a Role or ClusterRole. */
export type Right = (typeof identityRights.clusterWide)[number];

export interface Rights {
  readonly clusterWide: readonly Right[];
  /** By the namespace whose Role holds them. */
  readonly inNamespace: Readonly<Record<string, readonly Right[]>>;
}

const read = ['get', 'list', 'watch'] as const;
const ours = kindNames.machine.group;
const rule = (apiGroup: string, resources: readonly string[], verbs: readonly string[], ...names: string[]): Right => ({
  apiGroups: [apiGroup],
  resources,
  ...(names.length > 0 && { resourceNames: names }),
  verbs,
});
const { machine, macHost, macFleet, cluster, controlPlane } = kindNames;

const clusterWide: readonly Right[] = [
  rule(ours, [machine.plural], [...read, 'patch']),
  rule(ours, [macHost.plural], [...read, 'create', 'patch', 'delete']),
  rule(ours, [macFleet.plural], [...read, 'create', 'delete']),
  rule(ours, [cluster.plural], read),
  rule(
    ours,
    [machine, macHost, macFleet, cluster].map(({ plural }) => `${plural}/status`),
    ['patch'],
  ),
  rule(controlPlane.group, [controlPlane.plural], read),
  rule(controlPlane.group, [`${controlPlane.plural}/status`], ['patch']),
  // Asked of whoever makes owner references, where the server is told to.
  rule(controlPlane.group, [`${controlPlane.plural}/finalizers`], ['update']),
  rule(coreGroup, ['clusters', 'machinedeployments'], read),
  // Cordoned for a roll; deleted with its machine, as core does not do it when the whole Cluster goes.
  rule('', ['nodes'], [...read, 'patch', 'delete']),
  // The finalizer of an agent that is gone.
  rule('', ['pods'], [...read, 'patch']),
  rule('', ['events'], ['create', 'patch']),
  // The original bound one for every machine, by a name of its own: RBAC knows no prefixes.
  rule('rbac.authorization.k8s.io', ['clusterrolebindings'], ['delete']),
];

/**
 * All that the manager asks of Kubernetes, and nothing else: the chart's roles are made from this. Secrets are read in one namespace
 * only, `--secrets-namespace`, where also the ExternalControlPlane is expected to be: its kubeconfig and its ServiceAccount are beside
 * it. Whoever has one elsewhere gives the same rights there (`besideControlPlane`).
 */
export const providerRights = (
  options: Pick<ProviderOptions, 'secretsNamespace' | 'leaderElection' | 'fleetSpread'>,
): Rights => {
  const { secretsNamespace, leaderElection, fleetSpread } = options;
  const inNamespace: [string, readonly Right[]][] = [
    ...Object.entries(identityRights.inNamespace),
    // The kubernetes Service: where core finds the API server (I-07).
    ['default', [rule('', ['services'], ['get'], 'kubernetes')]],
    [
      secretsNamespace,
      [
        rule('', ['secrets'], [...read, 'create', 'update', 'patch', 'delete']),
        // Those that the original made for machines.
        rule('', ['serviceaccounts'], ['delete']),
        ...besideControlPlane,
      ],
    ],
  ];
  if (leaderElection) inNamespace.push([leaderElection.namespace, leaseRights]);
  if (fleetSpread)
    inNamespace.push([fleetSpread.namespace, [rule('apps', ['deployments'], ['get', 'patch'], fleetSpread.name)]]);
  const byNamespace = Map.groupBy(inNamespace, ([namespace]) => namespace);
  return {
    clusterWide: [...identityRights.clusterWide, ...clusterWide],
    inNamespace: Object.fromEntries(
      [...byNamespace].map(([namespace, rows]) => [namespace, rows.flatMap(([, rights]) => rights)]),
    ),
  };
};

/** RBAC cannot name what is yet to be created. */
const leaseRights: readonly Right[] = [
  rule('coordination.k8s.io', ['leases'], ['create']),
  rule('coordination.k8s.io', ['leases'], ['get', 'update'], leaderElectionID),
];

/** By its name alone: with more, whoever may write an ExternalControlPlane could be any ServiceAccount beside it. */
const besideControlPlane: readonly Right[] = [
  rule('', ['serviceaccounts'], ['get'], remoteServiceAccount),
  rule('', ['serviceaccounts/token'], ['create'], remoteServiceAccount),
];
