/** A rule of a ClusterRole: about resources, or about paths that are none. */
export type RemoteRight =
  | { readonly apiGroups: readonly string[]; readonly resources: readonly string[]; readonly verbs: readonly string[] }
  | { readonly nonResourceURLs: readonly string[]; readonly verbs: readonly string[] };

/**
 * What core does as `capi-remote` in the cluster that its Machines join: the rules of the original, and what core 1.14 needs besides, each
 * found by taking it away (measured.md). Whoever makes that ServiceAccount binds it to a ClusterRole of these.
 */
export const remoteRights: readonly RemoteRight[] = [
  // Is anybody there?
  { nonResourceURLs: ['/'], verbs: ['get'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] },
  { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
  // Without these a drain does not end as soon as there is a Pod, and those of DaemonSets are evicted too.
  { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
  { apiGroups: ['apps'], resources: ['daemonsets'], verbs: ['get'] },
  // Without these no Node that answers is ever let go.
  { apiGroups: ['storage.k8s.io'], resources: ['volumeattachments'], verbs: ['list'] },
  { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['list'] },
];
