/** The pool of Macs at Scaleway: list, rename, reinstall, reboot, and the SSH keys they are born with. */

export { checkRights } from './check-rights.ts';
export { createHostPool, type HostPoolOptions } from './create-host-pool.ts';
export type { CallOptions, HostPool, Image, RegisteredKey, Server } from './host-pool.ts';
export type { CallReport } from './http/transport.ts';
export { newestImage } from './images/newest-image.ts';
export { isVersionedPin, matchesFamily, osFamilyKey } from './images/os-family.ts';
export { type OperationName, operations } from './operations.ts';
export { ScalewayError, type ScalewayErrorDetails, type ScalewayErrorKind } from './scaleway-error.ts';
