import type { Secret } from '@tartan/kube';
import { ScalewayError } from './errors/scaleway-error.ts';

/**
 * What Scaleway knows of the Macs that are rented there, and what can be asked of it. The seam between controllers and the API: each
 * call says whether it may be repeated. All reject with `ScalewayError` and nothing else, except for the reason of `signal`.
 */
export interface HostPool {
  /** Every server of this project in the zone, all pages. Repeatable. */
  listServers(zone: string, options?: CallOptions): Promise<Server[]>;
  /** Repeatable. Rejects with `not found` for one that is gone. */
  getServer(zone: string, id: string, options?: CallOptions): Promise<Server>;
  /** Last write wins: a rename proves nothing. Repeatable with the same name. */
  rename(zone: string, id: string, name: string, options?: CallOptions): Promise<Server>;
  /** Wipes it. Not repeated by itself: the caller looks at the state first. `transient state` names the state that refused it. */
  reinstall(zone: string, id: string, osID: string | undefined, options?: CallOptions): Promise<void>;
  /** Not repeated by itself. */
  reboot(zone: string, id: string, options?: CallOptions): Promise<void>;
  /** Images that can be installed on this type now. Changes without notice, so it is never kept. Repeatable. */
  listImages(zone: string, serverType: string, options?: CallOptions): Promise<Image[]>;
  /** SSH keys of the project: put on a Mac at its first boot only. Repeatable. */
  listKeys(options?: CallOptions): Promise<RegisteredKey[]>;
  /** Not repeated by itself: the name is not unique at Scaleway. */
  createKey(name: string, publicKey: string, options?: CallOptions): Promise<RegisteredKey>;
  /** Repeatable: one that is gone is deleted. */
  deleteKey(id: string, options?: CallOptions): Promise<void>;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface Server {
  readonly id: string;
  readonly zone: string;
  readonly name: string;
  /** `M2-L` */
  readonly type: string;
  /** As Scaleway says it; a word that is not known to us is kept as it is. */
  readonly status: string;
  /** Stays true across reinstalls: readiness after one shows in `status` only. */
  readonly delivered: boolean;
  /** The image first installed; in-place updates do not show. */
  readonly os: { readonly id: string; readonly name: string; readonly family: string } | undefined;
  readonly ip: string;
  readonly sshUsername: string;
  /** From the server, or from its VNC address; never empty and never `<sealed>`: those are no passwords (INC-204, INC-207). */
  readonly password: Secret | undefined;
  readonly createdAt: string;
}

export interface Image {
  readonly id: string;
  readonly name: string;
  /** `Tahoe` */
  readonly family: string;
  readonly version: string;
  readonly isBeta: boolean;
}

export interface RegisteredKey {
  readonly id: string;
  readonly name: string;
  readonly publicKey: string;
}

/**
 * Reads once all that we will need, and tells what fails: `denied` names the permission set that is missing. Asked at start, so that a key
 * without rights shows there and not as a fleet that never comes up (INC-333). Reads only: that a key may write shows when it does.
 */
export const checkPermissions = async (
  pool: HostPool,
  zones: readonly string[],
  options: CallOptions = {},
): Promise<ScalewayError[]> => {
  const reads = await Promise.allSettled([
    ...zones.map((zone) => pool.listServers(zone, options)),
    pool.listKeys(options),
  ]);
  return reads.flatMap((read) => {
    if (read.status === 'fulfilled') return [];
    if (read.reason instanceof ScalewayError) return [read.reason];
    throw read.reason;
  });
};
