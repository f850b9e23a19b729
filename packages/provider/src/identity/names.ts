/** Kubernetes' names for the parts of a Node's identity. Only the group is ours. */

/** Signs only client certificates of kubelets: organisation `system:nodes`, no alternative names. */
export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';

/** Signs serving certificates of kubelets: subject of the Node, addresses and DNS names, no other names. Not approved by default. */
export const kubeletServingSigner = 'kubernetes.io/kubelet-serving';

/**
 * The group of the users of our tokens. Kubernetes allows `system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]` and rejects a token with any
 * other.
 */
export const joinGroup = 'system:bootstrappers:tartan';

export const nodesGroup = 'system:nodes';

export const tokenNamespace = 'kube-system';
export const tokenSecretType = 'bootstrap.kubernetes.io/token';
export const tokenSecretName = (tokenID: string): string => `bootstrap-token-${tokenID}`;

/** The public half of a bootstrap token. */
export const tokenIDPattern = /^[a-z0-9]{6}$/;

/** The token id in the user name of a bootstrap token. */
export const tokenIDOf = (username: string): string | undefined =>
  /^system:bootstrap:([a-z0-9]{6})$/.exec(username)?.[1];

export const nodeUser = (nodeName: string): string => `system:node:${nodeName}`;

/** The Node in this user name; undefined for other users. */
export const nodeNameOf = (username: string): string | undefined =>
  /^system:node:([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)$/.exec(username)?.[1];

/** The maximum lifetime of a certificate, after which a stolen Mac, or one released without a wipe, has no identity. */
export const certificateLifetimeSeconds = 7 * 24 * 3600;
