import { annotations, kindNames, machine as machineKind, macHost, type MacHostSpec } from '@tartan/api';
import {
  apiVersionOf,
  type CallOptions,
  type Client,
  ignoreNotFound,
  ignoreStale,
  isKubeError,
  patchIfUnchanged,
  patchStatus,
} from '@tartan/kube';
import type { Host, Machine } from '../controller-deps.ts';
import { claimBlockedBy, type HostRequirements, isHeldBy } from './choose-host.ts';

/**
 * The first compare-and-swap of a claim: the machine's status names the host and the version of the MacHost that was found free. Returns
 * the machine as written. Undefined: the machine has changed or has another server, so read it again.
 * Guarantees: a machine that names a server never changes to another one here.
 * Assumptions: `chooseHost` or `claimBlockedBy` judged this version of `host`.
 */
export const reserveHost = async (
  client: Client,
  machine: Machine,
  host: Host,
  options: CallOptions = {},
): Promise<Machine | undefined> => {
  const { name: serverID, resourceVersion: serverVersion } = host.metadata;
  const { status = {} } = machine;
  if (machine.metadata.deletionTimestamp !== undefined) return undefined;
  if (status.serverID && status.serverID !== serverID) return undefined;
  const next = { ...status, serverID, serverVersion };
  return ignoreStale(patchStatus(client, machineKind.resource, machine, next, options));
};

interface TakeOptions extends CallOptions {
  /** With the reservation (`status.serverID`). Has the name and UID of `wanted`. */
  readonly machine: Machine;
  readonly wanted: HostRequirements;
  /** The reserved host, if the caller has read it; saves a read. */
  readonly host?: Host | undefined;
  readonly now: number;
}

type TakeOutcome =
  /** The machine holds the host. `machine` may be newer than the one passed in. */
  | { readonly kind: 'taken'; readonly machine: Machine }
  /**
   * Another machine holds the host, or it is gone or does not fit. The reservation can be removed, in a write guarded by the version of
   * `machine`.
   */
  | { readonly kind: 'lost' }
  /** The machine or the host has changed meanwhile. The outcome is unknown: keep the reservation and read both again. */
  | { readonly kind: 'conflict' };

/** The controller of MacHosts writes their status now and then, which causes conflicts. */
const maxAttempts = 3;

/**
 * The second compare-and-swap of a claim: the MacHost names its holder.
 * Flow: write `consumerRef`, guarded by the version of the MacHost in the reservation. On a conflict read the MacHost from the server: if
 * this machine holds it already, done; if it is still free, renew the reservation with the new version and try again.
 * Guarantees: one host never has two holders, since the write succeeds only on the version that was free. One machine never holds two
 * hosts, also with several managers and stale caches: a reservation is removed only once its host has been seen at a later version, neither
 * free nor held by this machine; from then on every write prepared with the reserved version fails.
 * Assumptions: `status.serverID` is removed only after `lost`, or after the host was released, in a write guarded by the version of the
 * machine that was read before. Deleting a machine ends its reservation (`endReservation`). No user does either by hand.
 */
export const takeHost = async (client: Client, options: TakeOptions): Promise<TakeOutcome> => {
  const { wanted, now, machine: given, host: known, ...call } = options;
  const serverID = given.status?.serverID;
  if (!serverID) return { kind: 'conflict' };
  let machine = given;
  let host = isReservedVersion(machine, known) ? known : undefined;
  for (let tries = 1; tries <= maxAttempts; tries += 1) {
    if (host === undefined) {
      const seen = await readHost(client, serverID, call);
      if (seen === undefined) return { kind: 'lost' };
      if (isHeldBy(seen, wanted.uid)) return { kind: 'taken', machine };
      // The reserved version was found free and counts as free, even if this manager's clock says that its quarantine is not over.
      if (!isReservedVersion(machine, seen)) {
        if (claimBlockedBy(wanted, seen, now) !== undefined) return { kind: 'lost' };
        const renewed = await reserveHost(client, machine, seen, call);
        if (renewed === undefined) return { kind: 'conflict' };
        machine = renewed;
      }
      host = seen;
    }
    if (await ignoreStale(writeConsumerRef(client, host, machine, wanted, call))) return { kind: 'taken', machine };
    host = undefined;
  }
  return { kind: 'conflict' };
};

const isReservedVersion = (machine: Machine, host: Host | undefined): host is Host =>
  host !== undefined &&
  host.metadata.name === machine.status?.serverID &&
  host.metadata.resourceVersion === machine.status.serverVersion;

const writeConsumerRef = (
  client: Client,
  host: Host,
  machine: Machine,
  wanted: HostRequirements,
  call: CallOptions,
): Promise<Host> => {
  const { namespace = '' } = machine.metadata;
  const consumerRef = {
    apiVersion: apiVersionOf(kindNames.machine),
    kind: kindNames.machine.kind,
    namespace,
    name: wanted.name,
    uid: wanted.uid,
  };
  const spec = { consumerRef, ...(wanted.poolPrefix && { poolPrefix: wanted.poolPrefix }) };
  return patchIfUnchanged(client, macHost.resource, host, { spec }, call);
};

/**
 * For a machine that is being deleted and does not hold the host that it has reserved. Another manager may be about to claim the host for
 * the machine, and nothing would release it later. A new version of the MacHost makes that claim fail.
 * `conflict`: another write came first; the machine may hold the host now.
 * Assumptions: `host` was read from the server after the machine was seen to be deleted, so no other reservation can follow.
 */
export const endReservation = async (
  client: Pick<Client, 'patch'>,
  machine: Machine,
  host: Host,
  options: CallOptions = {},
): Promise<'ended' | 'conflict'> => {
  if (host.metadata.resourceVersion !== machine.status?.serverVersion) return 'ended';
  const metadata = { annotations: { [annotations.reservationEnded]: machine.metadata.uid } };
  try {
    await patchIfUnchanged(client, macHost.resource, host, { metadata }, options);
    return 'ended';
  } catch (error) {
    if (isKubeError(error, 'notFound')) return 'ended';
    if (isKubeError(error, 'conflict')) return 'conflict';
    throw error;
  }
};

/** The MacHost as the server has it; undefined if it does not exist. */
export const readHost = (
  client: Pick<Client, 'get'>,
  name: string,
  options: CallOptions = {},
): Promise<Host | undefined> => ignoreNotFound(client.get(macHost.resource, { name }, options));

export type Release = NonNullable<MacHostSpec['release']>;

/**
 * Starts the release of a host: removes the holder and sets `release` in one write. So no manager ever sees the host free before it is
 * wiped, and a claim and a release exclude each other (E6). A reboot that the holder asked for is dropped.
 * Rejects with `conflict` when the host is not the version that was judged.
 */
export const releaseHost = (
  client: Pick<Client, 'patch'>,
  host: Host,
  release: Release,
  options: CallOptions = {},
): Promise<Host> =>
  patchIfUnchanged(client, macHost.resource, host, { spec: { consumerRef: null, reboot: null, release } }, options);

interface ReleaseHeldOptions extends CallOptions {
  readonly serverID: string;
  /** UID of the machine that releases it. */
  readonly holder: string;
  readonly release: Release;
}

/**
 * A machine releases its host, to be wiped and put back into the pool.
 * Flow: read the MacHost from the server; if this machine holds it, one guarded write (`releaseHost`).
 * Guarantees: a host of another holder is never released, whatever the caller remembers. Idempotent: the second call returns `not held`,
 * which means free, held by another machine, being released, or gone.
 */
export const releaseHeldHost = async (
  client: Client,
  options: ReleaseHeldOptions,
): Promise<'released' | 'not held' | 'conflict'> => {
  const { serverID, holder, release, ...call } = options;
  for (let tries = 1; tries <= maxAttempts; tries += 1) {
    const host = await readHost(client, serverID, call);
    if (host === undefined || !isHeldBy(host, holder)) return 'not held';
    if (await ignoreStale(releaseHost(client, host, release, call))) return 'released';
  }
  return 'conflict';
};
