import type { Secret } from '@tartan/kube';
import { ScalewayError } from './errors/scaleway-error.ts';

/**
 * The interface between controllers and Scaleway's API for rented Macs. Each method says whether it is repeatable. All reject only with
 * `ScalewayError`, or with the reason of `signal`.
 */
export interface HostPool {
  /** Every server of this project in the zone, all pages. Repeatable. */
  listServers(zone: string, options?: ListOptions): Promise<Server[]>;
  /** Repeatable. Rejects with `not found` for a server that is gone. */
  getServer(zone: string, id: string, options?: CallOptions): Promise<Server>;
  /** Last write wins: a rename proves nothing. Repeatable with the same name. */
  rename(zone: string, id: string, name: string, options?: CallOptions): Promise<Server>;
  /** Wipes the server. Not retried: the caller reads the state first. `transient state` names the state that forbids it. */
  reinstall(zone: string, id: string, osID: string | undefined, options?: CallOptions): Promise<void>;
  /** Not retried. */
  reboot(zone: string, id: string, options?: CallOptions): Promise<void>;
  /** The images that can be installed on this type now. Scaleway changes them without notice. Repeatable. */
  listImages(zone: string, serverType: string, options?: ListOptions): Promise<Image[]>;
  /** SSH keys of the project. Scaleway installs them on a Mac only at its first boot. Repeatable. */
  listKeys(options?: CallOptions): Promise<RegisteredKey[]>;
  /** Not retried: names are not unique at Scaleway. */
  createKey(name: string, publicKey: string, options?: CallOptions): Promise<RegisteredKey>;
  /** Repeatable: succeeds for a key that is gone. */
  deleteKey(id: string, options?: CallOptions): Promise<void>;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Calls of different flows take turns when the rate limit is reached. Lists have a flow of their own. */
  readonly flow?: string | undefined;
}

/** All callers share a list of servers or images. */
export interface ListOptions extends CallOptions {
  /** How long before the call the read of the list may have begun. Default: 0. */
  readonly maxAgeMs?: number | undefined;
}

/** The same pool, with all its calls in a flow, except for those that name another one. */
export const inFlow = (pool: HostPool, flow: string): HostPool => ({
  listServers: (zone, options) => pool.listServers(zone, { flow, ...options }),
  getServer: (zone, id, options) => pool.getServer(zone, id, { flow, ...options }),
  rename: (zone, id, name, options) => pool.rename(zone, id, name, { flow, ...options }),
  reinstall: (zone, id, osID, options) => pool.reinstall(zone, id, osID, { flow, ...options }),
  reboot: (zone, id, options) => pool.reboot(zone, id, { flow, ...options }),
  listImages: (zone, type, options) => pool.listImages(zone, type, { flow, ...options }),
  listKeys: (options) => pool.listKeys({ flow, ...options }),
  createKey: (name, publicKey, options) => pool.createKey(name, publicKey, { flow, ...options }),
  deleteKey: (id, options) => pool.deleteKey(id, { flow, ...options }),
});

export interface Server {
  readonly id: string;
  readonly zone: string;
  readonly name: string;
  /** `M2-L` */
  readonly type: string;
  /** As Scaleway reports it, including unknown values. */
  readonly status: string;
  /** Stays true across reinstalls: only `status` shows readiness after one. */
  readonly delivered: boolean;
  /** The image first installed; in-place updates do not change it. */
  readonly os: { readonly id: string; readonly name: string; readonly family: string } | undefined;
  readonly ip: string;
  readonly sshUsername: string;
  /** From the server, or from its VNC URL; never empty and never `<sealed>`: those are no passwords (INC-204, INC-207). */
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
 * Reads once everything that we will need, and reports failures: `denied` names the missing permission set. Called at start, so that a key
 * without permissions shows there, and not as a fleet that never comes up (INC-333). Checks only reads: write permissions show on first
 * use.
 */
export const checkPermissions = async (
  pool: HostPool,
  zones: readonly string[],
  options: ListOptions = {},
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
