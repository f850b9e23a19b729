/** What Kubernetes calls the parts of a Node's identity. All of them are names of Kubernetes, but for the group. */

/** Signs client certificates of kubelets, and nothing else: organisation `system:nodes`, no alternative names. */
export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';

/** Signs serving certificates of kubelets: subject of the Node, addresses and DNS names, no other names. Nobody approves by default. */
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving';

/**
 * Who comes with one of our tokens is in this group. Kubernetes allows `system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]` and takes no
 * token that has another one.
 */
export const joinGroup = 'system:bootstrappers:tartan';

export const nodesGroup = 'system:nodes';

export const tokenNamespace = 'kube-system';
export const tokenSecretType = 'bootstrap.kubernetes.io/token';
export const tokenSecretName = (tokenID: string): string => `bootstrap-token-${tokenID}`;

/** The public half of a bootstrap token. */
export const tokenIDPattern = /^[a-z0-9]{6}$/;

/** As whom the holder of a bootstrap token acts. */
export const tokenIDOf = (username: string): string | undefined =>
  /^system:bootstrap:([a-z0-9]{6})$/.exec(username)?.[1];

export const nodeUser = (nodeName: string): string => `system:node:${nodeName}`;

/** The Node that this user is; undefined for everybody else. */
export const nodeNameOf = (username: string): string | undefined =>
  /^system:node:([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)$/.exec(username)?.[1];

/** The longest that a certificate may live: a Mac that is stolen, or given back unwiped, is nobody after this time. */
export const certificateLifetimeSeconds = 7 * 24 * 3600;
