import type { Live } from '@tartan/kube';
import type { RequestedCertificate } from '../approve/certificate-request.ts';
import { type Snapshot as ClientSnapshot, observe as observeRequest } from '../approve/observe.ts';
import type { MachineOf } from '../approve/observe.ts';
import type { CertificateRequest } from '../issued-identity.ts';
import { nodeNameOf } from '../names.ts';
import { type NamesReading, readNames } from './alternative-names.ts';
import type { Place, PlaceOf } from './place.ts';

/** All that a request says, and what is known of the Node that made it. */
export interface Snapshot extends ClientSnapshot {
  /** NaN when the server has not said it. */
  readonly createdAt: number;
  readonly names: NamesReading;
  /** Of the Node that asks; undefined when no machine stands for it. */
  readonly place: Place | undefined;
}

export interface ObserveOptions {
  readonly machineOf: MachineOf;
  readonly placeOf: PlaceOf;
  readonly now: number;
  readonly signal: AbortSignal;
}

export const observe = async (request: Live<CertificateRequest>, options: ObserveOptions): Promise<Snapshot> => {
  const seen = await observeRequest(request, options);
  const { reading, machines } = seen;
  const name = nodeNameOf(seen.username);
  const machine = name === undefined ? undefined : machines.get(name);
  return {
    ...seen,
    createdAt: Date.parse(request.metadata.creationTimestamp),
    names: reading.ok ? namesOf(reading.requested) : { ok: false, problem: reading.problem },
    place:
      seen.settled || name === undefined || machine === undefined
        ? undefined
        : await options.placeOf(name, machine, options.signal),
  };
};

const namesOf = ({ attributes }: RequestedCertificate): NamesReading =>
  attributes.length === 0 ? { ok: true, names: { addresses: [], dnsNames: [], others: 0 } } : readNames(attributes);
