import { kindNames, macHost, type MacHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { apiVersionOf, type CallOptions, type Client, isKubeError, type Live } from '@tartan/kube';
import { isHeldBy, obstacleTo } from './obstacle.ts';
import { readHost } from './read-host.ts';
import { reserveHost } from './reserve-host.ts';
import type { Wanted } from './wanted.ts';

type Machine = Live<ScalewayAppleSiliconMachine>;
type Host = Live<MacHost>;

interface TakeOptions extends CallOptions {
  /** With the reservation: `status.serverID`. Its name and UID are those of `wanted`. */
  readonly machine: Machine;
  readonly wanted: Wanted;
  /** The reserved Mac, as the caller knows it; saves a look at it. */
  readonly host?: Host | undefined;
  readonly now: number;
}

type TakeOutcome =
  /** The Mac is the machine's. `machine` may be a newer one than was given. */
  | { readonly kind: 'taken'; readonly host: Host; readonly machine: Machine }
  /** It is somebody else's, or gone, or not what is wanted. The reservation can be given up, in a write guarded by the version of `machine`. */
  | { readonly kind: 'lost'; readonly why: string; readonly host: Host | undefined }
  /** Machine or Mac have changed meanwhile. Nothing is known: keep the reservation, read everything again. */
  | { readonly kind: 'tryAgain'; readonly why: string };

/** Whoever looks after the MacHost writes its status now and then. */
const mostTries = 3;

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
  if (!serverID) return tryAgain('the machine has reserved no server');
  let machine = given;
  let host = isAsReserved(machine, known) ? known : undefined;
  for (let tries = 1; tries <= mostTries; tries += 1) {
    if (host === undefined) {
      const seen = await readHost(client, serverID, call);
      if (seen === undefined) return { kind: 'lost', why: 'its MacHost is gone', host: undefined };
      if (isHeldBy(seen, wanted.uid)) return { kind: 'taken', host: seen, machine };
      // The very version that was found free is free, even if this manager's clock says that its quarantine is not over.
      if (!isAsReserved(machine, seen)) {
        const obstacle = obstacleTo(wanted, seen, now);
        if (obstacle !== undefined) return { kind: 'lost', why: sayWhy(obstacle, seen), host: seen };
        const renewed = await reserveHost(client, machine, seen, call);
        if (renewed.kind === 'tryAgain') return tryAgain(`the machine has changed: ${renewed.why}`);
        machine = renewed.machine;
      }
      host = seen;
    }
    try {
      return { kind: 'taken', host: await write(client, host, machine, wanted, call), machine };
    } catch (error) {
      if (!isKubeError(error, 'conflict', 'notFound')) throw error;
      host = undefined;
    }
  }
  return tryAgain('the MacHost is being changed by somebody else');
};

const isAsReserved = (machine: Machine, host: Host | undefined): host is Host =>
  host !== undefined &&
  host.metadata.name === machine.status?.serverID &&
  host.metadata.resourceVersion === machine.status.serverVersion;

const write = (client: Client, host: Host, machine: Machine, wanted: Wanted, call: CallOptions): Promise<Host> => {
  const { name, uid, resourceVersion } = host.metadata;
  const { namespace = '' } = machine.metadata;
  const { kind } = kindNames.machine;
  const consumerRef = {
    apiVersion: apiVersionOf(kindNames.machine),
    kind,
    namespace,
    name: wanted.name,
    uid: wanted.uid,
  };
  const spec = { consumerRef, ...(wanted.poolPrefix && { poolPrefix: wanted.poolPrefix }) };
  return client.patch(
    macHost.resource,
    { name },
    { type: 'merge', body: { metadata: { uid, resourceVersion }, spec } },
    call,
  );
};

const sayWhy = (obstacle: string, { spec }: Host): string =>
  spec.consumerRef ? `it is held by ${spec.consumerRef.namespace}/${spec.consumerRef.name}` : `it is ${obstacle}`;

const tryAgain = (why: string): TakeOutcome => ({ kind: 'tryAgain', why });
