/** The pool of Macs at Scaleway: list, rename, reinstall, reboot, and the SSH keys they are born with. */

export {
  type CallOptions,
  checkPermissions,
  type HostPool,
  type Image,
  type RegisteredKey,
  type Server,
} from './host-pool.ts';
export { createHostPool, type HostPoolOptions } from './create-host-pool.ts';
export type { CallReport } from './http/transport.ts';
export { isVersionedPin, matchesFamily, newestImage, osFamilyKey } from './images.ts';
export { type OperationName, operations } from './operations.ts';
export { ScalewayError, type ScalewayErrorKind } from './errors/scaleway-error.ts';
