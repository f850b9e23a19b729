import { kindNames, leaderElectionID, remoteServiceAccount } from '@tartan/api';
import { type ExplainedRule, policyRule as rule, type PolicyRules, withoutReasons } from '@tartan/kube';
import { coreGroup } from '../core/kinds.ts';
import type { ProviderOptions } from '../flags/provider-options.ts';
import { identityRights } from '../identity/rights.ts';

const follow = ['list', 'watch'] as const;
const read = ['get', ...follow] as const;
const ours = kindNames.machine.group;
const { machine, macHost, macFleet, cluster, controlPlane } = kindNames;
const statuses = [machine, macHost, macFleet, cluster].map(({ plural }) => `${plural}/status`).join(',');

const clusterWide: readonly ExplainedRule[] = [
  rule(ours, machine.plural, [...read, 'patch'], 'to claim Macs for machines; the finalizer and providerID of each'),
  rule(
    ours,
    macHost.plural,
    [...read, 'create', 'patch', 'delete'],
    'one for each Mac that Scaleway lists, and who holds it',
  ),
  rule(
    ours,
    macFleet.plural,
    [...read, 'create', 'delete'],
    'to roll fleets, also those that nobody made a MacFleet for',
  ),
  rule(
    ours,
    cluster.plural,
    [...follow, 'patch'],
    'to say that machines can be made, and to keep clusterctl from moving them',
  ),
  rule(ours, statuses, ['patch'], 'to say how each of them is'),
  rule(
    controlPlane.group,
    controlPlane.plural,
    [...follow, 'patch'],
    'to keep the kubeconfig of Cluster API core, and clusterctl from moving it',
  ),
  rule(controlPlane.group, `${controlPlane.plural}/status`, ['patch'], 'to say how that is'),
  rule(
    controlPlane.group,
    `${controlPlane.plural}/finalizers`,
    ['update'],
    'to set owner references, where the server enforces permissions for that',
  ),
  rule(coreGroup, 'clusters', read, 'whether work is paused; read once more right before a Mac is wiped'),
  rule(coreGroup, 'machinedeployments', follow, 'how many machines are wanted'),
  rule(
    coreGroup,
    'machinedeployments',
    ['patch'],
    'to scale one when the number in its MacFleet changes, and to note which number that was',
  ),
  rule(coreGroup, 'machines', ['get'], 'whether the Machine of a Pod that has ended is being deleted'),
  rule(
    '',
    'nodes',
    [...read, 'patch', 'delete'],
    'whose it is, before a Mac becomes it; cordoned for a roll; tainted while no virtual machine starts there; deleted with its machine, as core does not do it when the whole Cluster goes',
  ),
  rule(
    '',
    'pods',
    [...read, 'patch', 'delete'],
    "the finalizer of an agent that is gone; and Pods that have ended, where core's drain waits for them",
  ),
  rule('', 'events', ['create', 'patch'], 'to tell what was done'),
];

/**
 * All permissions of the manager: the chart's roles are generated from this. Secrets are read only in `--secrets-namespace`, where the
 * ExternalControlPlane has to be too, with its kubeconfig and its ServiceAccount. One in another namespace needs the same rights there
 * (`besideControlPlane`).
 */
export const explainedRights = (
  options: Pick<ProviderOptions, 'secretsNamespace' | 'leaderElection' | 'fleetSpread'>,
): PolicyRules<ExplainedRule> => {
  const { secretsNamespace, leaderElection, fleetSpread } = options;
  const inNamespace: [string, readonly ExplainedRule[]][] = [
    ...Object.entries(identityRights.inNamespace),
    ['default', [rule('', 'services kubernetes', ['get'], 'where core finds the API server')]],
    [
      secretsNamespace,
      [
        rule(
          '',
          'secrets',
          [...read, 'create', 'update', 'patch', 'delete'],
          'the SSH keys of fleets, the passwords of Macs, the kubeconfig of core',
        ),
        ...besideControlPlane,
      ],
    ],
  ];
  if (leaderElection) inNamespace.push([leaderElection.namespace, leaseRights]);
  if (fleetSpread)
    inNamespace.push([
      fleetSpread.namespace,
      [
        rule(
          'apps',
          `deployments ${fleetSpread.name}`,
          ['get', 'patch'],
          'to roll the Deployment of `--fleet-spread-deployment`',
        ),
      ],
    ]);
  const byNamespace = Map.groupBy(inNamespace, ([namespace]) => namespace);
  return {
    clusterWide: [...identityRights.clusterWide, ...clusterWide],
    inNamespace: Object.fromEntries(
      [...byNamespace].map(([namespace, rows]) => [namespace, rows.flatMap(([, rights]) => rights)]),
    ),
  };
};

/** The same as plain RBAC rules. */
export const providerRights = (options: Parameters<typeof explainedRights>[0]): PolicyRules =>
  withoutReasons(explainedRights(options));

/** RBAC cannot limit `create` to names. */
const leaseRights: readonly ExplainedRule[] = [
  rule('coordination.k8s.io', 'leases', ['create'], 'so that one manager leads'),
  rule('coordination.k8s.io', `leases ${leaderElectionID}`, ['get', 'update'], 'the same'),
];

/** Only for this name: otherwise a user who may write an ExternalControlPlane could act as any ServiceAccount of its namespace. */
const besideControlPlane: readonly ExplainedRule[] = [
  rule('', `serviceaccounts ${remoteServiceAccount}`, ['get'], 'whether core has the account that it connects as'),
  rule('', `serviceaccounts/token ${remoteServiceAccount}`, ['create'], 'the token in the kubeconfig of core'),
];
