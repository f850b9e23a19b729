/** Who a Mac is to Kubernetes: from a short-lived token over a certificate request to `system:node:<machine>`, and back. */
export { type ApproverOptions, clientRequests, createApprover, servingRequests } from './csr/controller.ts';
export type { MacAddresses, MacAddressesOf, MachineIdentity, MachineOf, NodeAddresses } from './csr/observe.ts';
export { type ClusterAddress, clusterAddress, ClusterAddressError, joinKubeconfig } from './join-kubeconfig.ts';
export {
  type CertificateIdentity,
  decideJoin,
  identityIssuedFor,
  type JoinDecision,
  type JoinSnapshot,
  type NodeLease,
  shouldRetireToken,
} from './decide-join.ts';
export {
  deleteJoinToken,
  type JoinToken,
  mintJoinToken,
  type MintOptions,
  type RandomBytes,
  type TokenRecord,
} from './join-token.ts';
export { deleteLegacyIdentity, legacyIdentityRights } from './legacy-identity.ts';
export { identityRights, joinBinding, joinRights, type MacRight, macRights } from './rights.ts';
