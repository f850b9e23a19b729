import { joinGroup, kubeletClientSigner, kubeletServingSigner, tokenNamespace } from './names.ts';

/** A rule of a Role or ClusterRole. */
interface Right {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * All that this folder asks of Kubernetes, for whoever writes the roles of the provider.
 *
 * In `kube-system` Secrets are created and deleted, each by its name, and never read: no get, list, watch, update or patch. RBAC knows no
 * prefixes of names, so `delete` covers every Secret there; but for it a used token would stay valid until it expires.
 */
export const identityRights: {
  readonly clusterWide: readonly Right[];
  readonly inNamespace: Readonly<Record<string, readonly Right[]>>;
} = {
  clusterWide: [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests'],
      verbs: ['get', 'list', 'watch'],
    },
    { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests/approval'], verbs: ['update'] },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      resourceNames: [kubeletClientSigner, kubeletServingSigner],
      verbs: ['approve'],
    },
  ],
  inNamespace: {
    [tokenNamespace]: [{ apiGroups: [''], resources: ['secrets'], verbs: ['create', 'delete'] }],
    'kube-public': [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'], verbs: ['get'] }],
    'kube-node-lease': [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get'] }],
  },
};

/**
 * What holders of our tokens need: to make a certificate request and to see what becomes of it. Kubernetes comes with that role. The
 * group must not be bound to `system:certificates.k8s.io:certificatesigningrequests:nodeclient`: with it the controller manager
 * approves whatever name a token asks for, before we look at it.
 */
export const joinBinding = { clusterRole: 'system:node-bootstrapper', group: joinGroup } as const;
