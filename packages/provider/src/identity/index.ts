/** Who a Mac is to Kubernetes: from a short-lived token over a certificate request to `system:node:<machine>`, and back. */
export { approvableRequests, type ApproverOptions, createApprover } from './approve/controller.ts';
export type { MachineIdentity, MachineOf } from './approve/observe.ts';
export { createServingApprover, servingRequests, type ServingApproverOptions } from './serving/controller.ts';
export type { NodeWord, Place, PlaceOf } from './serving/place.ts';
export { type ClusterAddress, clusterAddress, ClusterAddressError } from './cluster-address.ts';
export { identityIssuedFor } from './issued-identity.ts';
export {
  type CertificateIdentity,
  type JoinDecision,
  type JoinSnapshot,
  needsNewJoin,
  type NodeLease,
  shouldRetireToken,
} from './join-decisions.ts';
export { joinKubeconfig } from './join-kubeconfig.ts';
export type { JoinToken, RandomBytes, TokenRecord } from './join-token.ts';
export { deleteJoinToken, mintJoinToken, type MintOptions } from './mint-join-token.ts';
export { joinRights, type MacRight, macRights } from './mac-rights.ts';
export { identityRights, joinBinding } from './rights.ts';
