import type { Explained } from '@tartan/kube';
import { joinGroup, kubeletClientSigner, kubeletServingSigner, tokenNamespace } from './names.ts';

/**
 * All that this folder asks of Kubernetes, for whoever writes the roles of the provider.
 *
 * In `kube-system` Secrets are created and deleted, each by its name, and never read: no get, list, watch, update or patch. RBAC knows no
 * prefixes of names, so `delete` covers every Secret there; but for it a used token would stay valid until it expires.
 */
export const identityRights: {
  readonly clusterWide: readonly Explained[];
  readonly inNamespace: Readonly<Record<string, readonly Explained[]>>;
} = {
  clusterWide: [
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests'],
      verbs: ['list', 'watch'],
      for: 'to see which Mac asks for a certificate, and whether it got one',
    },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/approval'],
      verbs: ['update'],
      for: 'to approve or deny what a Mac asks for',
    },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      resourceNames: [kubeletClientSigner, kubeletServingSigner],
      verbs: ['approve'],
      for: 'the same: certificates of Nodes, and of no other kind',
    },
  ],
  inNamespace: {
    [tokenNamespace]: [
      {
        apiGroups: [''],
        resources: ['secrets'],
        verbs: ['create', 'delete'],
        for: 'the token with which a Mac joins once. Never to read one',
      },
    ],
    'kube-public': [
      {
        apiGroups: [''],
        resources: ['configmaps'],
        resourceNames: ['cluster-info'],
        verbs: ['get'],
        for: 'to tell Macs where the API server is, without `--api-server-url`',
      },
    ],
    'kube-node-lease': [
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        verbs: ['get'],
        for: 'to see that a Mac has joined with a certificate: then its token goes',
      },
    ],
  },
};

/**
 * What holders of our tokens need: to make a certificate request and to see what becomes of it. Kubernetes comes with that role. The
 * group must not be bound to `system:certificates.k8s.io:certificatesigningrequests:nodeclient`: with it the controller manager
 * approves whatever name a token asks for, before we look at it.
 */
export const joinBinding = { clusterRole: 'system:node-bootstrapper', group: joinGroup } as const;
