import { type ExplainedRule, type NonResourceRule, type PolicyRule, policyRule, withoutReason } from '@tartan/kube';

/** A rule of a ClusterRole, for resources or for non-resource URLs. */
type RemoteRight = PolicyRule | NonResourceRule;

/**
 * What core does as `capi-remote` in the cluster that its Machines join: the rules of the original, and what core 1.14 needs in addition,
 * each found by removing it. The ServiceAccount has to be bound to a ClusterRole with these rules.
 */
export const explainedRemoteRights: readonly (ExplainedRule | ExplainedRule<NonResourceRule>)[] = [
  { nonResourceURLs: ['/'], verbs: ['get'], for: 'to ask whether anybody is there' },
  policyRule(
    '',
    'nodes',
    ['get', 'list', 'watch', 'patch', 'delete'],
    'to bind Machines to Nodes, to cordon, and to delete a Node with its Machine',
  ),
  policyRule('', 'pods', ['get', 'list'], 'to drain'),
  policyRule('', 'pods/eviction', ['create'], 'to drain'),
  policyRule(
    '',
    'namespaces',
    ['list', 'watch'],
    'to drain: without it a drain does not end as soon as there is a Pod',
  ),
  policyRule('apps', 'daemonsets', ['get'], 'to drain: without it Pods of DaemonSets are evicted too'),
  policyRule(
    'storage.k8s.io',
    'volumeattachments',
    ['list'],
    'to see that volumes are detached: without it no Machine of a reachable Node is ever deleted',
  ),
  policyRule('', 'persistentvolumes', ['list'], 'the same, where volumes are attached'),
];

export const remoteRights: readonly RemoteRight[] = explainedRemoteRights.map((right) =>
  'nonResourceURLs' in right ? withoutReason<NonResourceRule>(right) : withoutReason<PolicyRule>(right),
);
