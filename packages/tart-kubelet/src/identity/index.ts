/** Who this Mac is to Kubernetes: a join token, a certificate request, and from then on `system:node:<name>`. */
export type { TransportFor } from './connection.ts';
export { createNodeIdentity, type IdentityOptions, type NodeIdentity } from './node-identity.ts';
