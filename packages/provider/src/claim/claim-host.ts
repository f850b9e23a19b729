import { annotations, kindNames, machine as machineKind, macHost, type MacHostSpec } from '@tartan/api';
import {
  apiVersionOf,
  type CallOptions,
  type Client,
  ignoreNotFound,
  isKubeError,
  patchIfUnchanged,
  patchStatus,
} from '@tartan/kube';
import type { Host, Machine } from '../controller-deps.ts';
import { ignoreStale } from '../ignore-stale.ts';
import { claimBlockedBy, type HostRequirements, isHeldBy } from './choose-host.ts';

/**
 * The first compare-and-swap of a claim: the machine names the Mac, and the version of its MacHost at which it was found free. Answers the
 * machine as it was written; undefined: it is another than it was, or has a server, so read it again.
 *
 * Guarantees: a machine that names a server never changes to another one here.
 * Assumptions: `host` was judged as it is, by `chooseHost` or `claimBlockedBy`.
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
  /** With the reservation: `status.serverID`. Its name and UID are those of `wanted`. */
  readonly machine: Machine;
  readonly wanted: HostRequirements;
  /** The reserved Mac, as the caller knows it; saves a look at it. */
  readonly host?: Host | undefined;
  readonly now: number;
}

type TakeOutcome =
  /** The Mac is the machine's. `machine` may be a newer one than was given. */
  | { readonly kind: 'taken'; readonly machine: Machine }
  /** It is somebody else's, or gone, or not what is wanted. The reservation can be given up, in a write guarded by the version of `machine`. */
  | { readonly kind: 'lost' }
  /** Machine or Mac have changed meanwhile. Nothing is known: keep the reservation, read everything again. */
  | { readonly kind: 'conflict' };

/** Whoever looks after the MacHost writes its status now and then. */
const maxAttempts = 3;

/**
 * The second compare-and-swap of a claim: the MacHost names its holder.
 *
 * Flow: write `consumerRef`, guarded by the version of the MacHost that the reservation names. If it has another version by now, look at
 * it on the server: ours already, or still free, in which case the reservation is renewed with that version before the next try.
 * Guarantees: one Mac never has two holders, since the write meets the version that was free or none. One machine never holds two Macs,
 * also between managers with old copies of everything: a reservation is given up only once its Mac has been seen at a later version, not
 * free and not ours; from then on no write can succeed that was prepared with the version in that reservation.
 * Assumptions: `status.serverID` is removed only after `lost`, or when the Mac was given back, in a write that is guarded by the version
 * of the machine that was read before; whoever deletes a machine ends its reservation (`endReservation`); and no person does either by hand.
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
      // The very version that was found free is free, even if this manager's clock says that its quarantine is not over.
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
 * For a machine that goes away and does not hold the Mac that it has reserved. Another manager may be about to take it for the machine,
 * which nobody would then give back: a new version of the MacHost makes that write fail.
 *
 * `conflict`: somebody was faster; perhaps the machine holds the Mac now.
 * Assumptions: `host` was read from the server, after the machine was seen to be deleted. So no other reservation can follow.
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

/** The MacHost as the server has it now; undefined when there is none. */
export const readHost = (
  client: Pick<Client, 'get'>,
  name: string,
  options: CallOptions = {},
): Promise<Host | undefined> => ignoreNotFound(client.get(macHost.resource, { name }, options));

export type Release = NonNullable<MacHostSpec['release']>;

/**
 * Puts a Mac on its way back: no holder any more, and a release, in one write. So nobody ever sees it free and not wiped, and a claim
 * and a release exclude each other (E6). A reboot that was asked for goes with the holder that asked.
 * Rejects with `conflict` when it is another Mac, or another version of it, than was judged.
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
  /** UID of the machine that gives it back. */
  readonly holder: string;
  readonly release: Release;
}

/**
 * A machine gives its Mac back, to be wiped and put into the pool.
 *
 * Flow: the MacHost is read from the server; if this machine holds it, one guarded write (`releaseHost`).
 * Guarantees: a Mac that anybody else holds is never released, whatever the caller has remembered. To repeat it does nothing more: the
 * second time it is `not held`: free, somebody else's, on its way back already, or gone.
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
