import { kindNames, runnersLeaderElectionID } from '@tartan/api';
import { type ExplainedRule, policyRule, type PolicyRules, withoutReasons } from '@tartan/kube';

const watchVerbs = ['list', 'watch'] as const;
const { group, plural } = kindNames.runnerPool;

const clusterWide: readonly ExplainedRule[] = [
  policyRule(
    '',
    'nodes',
    ['get', ...watchVerbs],
    'whether a Mac is cordoned, silent or gone. Nodes belong to no namespace',
  ),
];

const poolNamespaceRules: readonly ExplainedRule[] = [
  policyRule(
    group,
    plural,
    [...watchVerbs, 'patch'],
    'which runners are wanted; the finalizer that waits for their jobs',
  ),
  policyRule(group, `${plural}/status`, ['patch'], 'to say how each pool is'),
  policyRule(
    '',
    'pods',
    ['get', ...watchVerbs, 'create', 'patch', 'delete'],
    'the runners. One is looked at once more, uncached, before it is deleted',
  ),
  policyRule('', 'serviceaccounts', [...watchVerbs, 'create', 'delete'], 'one for each Pod, which nothing is bound to'),
  policyRule(
    '',
    'secrets',
    ['get', 'create'],
    'the GitHub Apps of pools, by their names; the configuration of each runner, which goes with its Pod',
  ),
  policyRule('', 'events', ['create', 'patch'], 'to tell what was done'),
];

/** RBAC cannot limit `create` to a resource name. */
const leaseRules: readonly ExplainedRule[] = [
  policyRule('coordination.k8s.io', 'leases', ['create'], 'so that one controller leads'),
  policyRule('coordination.k8s.io', `leases ${runnersLeaderElectionID}`, ['get', 'update'], 'the same'),
];

interface RBACScope {
  /** Of the pools. */
  readonly namespace: string;
  /** Where the lease is. */
  readonly leaderElection: { readonly namespace: string } | undefined;
}

/** All permissions that the runners controller needs. The chart's roles are generated from this. */
export const explainedRunnersRBACRules = ({ namespace, leaderElection }: RBACScope): PolicyRules<ExplainedRule> => {
  const elsewhere = leaderElection && leaderElection.namespace !== namespace ? leaderElection.namespace : undefined;
  return {
    clusterWide,
    inNamespace: {
      [namespace]: [...poolNamespaceRules, ...(leaderElection && elsewhere === undefined ? leaseRules : [])],
      ...(elsewhere !== undefined && { [elsewhere]: leaseRules }),
    },
  };
};

/** The same as Kubernetes rules. */
export const runnersRBACRules = (where: RBACScope): PolicyRules => withoutReasons(explainedRunnersRBACRules(where));
