/** The pool of Macs at Scaleway: list, rename, reinstall, reboot, and the SSH keys for their first boot. */

export { checkPermissions, type HostPool, type Image, inFlow, type RegisteredKey, type Server } from './host-pool.ts';
export { createHostPool } from './create-host-pool.ts';
export type { CallReport, WaitReport } from './http/transport.ts';
export { isVersionedPin, matchesFamily, newestImage, osFamilyKey } from './images.ts';
export { operations } from './operations.ts';
export { ScalewayError, type ScalewayErrorKind } from './errors/scaleway-error.ts';
