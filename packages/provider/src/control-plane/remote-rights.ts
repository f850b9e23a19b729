import { type ExplainedRule, type NonResourceRule, type PolicyRule, withoutReason } from '@tartan/kube';

/** A rule of a ClusterRole: about resources, or about paths that are none. */
export type RemoteRight = PolicyRule | NonResourceRule;

/**
 * What core does as `capi-remote` in the cluster that its Machines join: the rules of the original, and what core 1.14 needs besides, each
 * found by taking it away. Whoever makes that ServiceAccount binds it to a ClusterRole of these.
 */
export const explainedRemoteRights: readonly (ExplainedRule | ExplainedRule<NonResourceRule>)[] = [
  { nonResourceURLs: ['/'], verbs: ['get'], for: 'to ask whether anybody is there' },
  {
    apiGroups: [''],
    resources: ['nodes'],
    verbs: ['get', 'list', 'watch', 'patch', 'delete'],
    for: 'to bind Machines to Nodes, to cordon, and to delete a Node with its Machine',
  },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'], for: 'to drain' },
  { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'], for: 'to drain' },
  {
    apiGroups: [''],
    resources: ['namespaces'],
    verbs: ['list', 'watch'],
    for: 'to drain: without it a drain does not end as soon as there is a Pod',
  },
  {
    apiGroups: ['apps'],
    resources: ['daemonsets'],
    verbs: ['get'],
    for: 'to drain: without it Pods of DaemonSets are evicted too',
  },
  {
    apiGroups: ['storage.k8s.io'],
    resources: ['volumeattachments'],
    verbs: ['list'],
    for: 'to see that volumes are detached: without it no Node that answers is ever let go',
  },
  { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['list'], for: 'the same, where volumes are attached' },
];

export const remoteRights: readonly RemoteRight[] = explainedRemoteRights.map((right) =>
  'nonResourceURLs' in right ? withoutReason<NonResourceRule>(right) : withoutReason<PolicyRule>(right),
);
