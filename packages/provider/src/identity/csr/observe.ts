import type { Live } from '@tartan/kube';
import type { CertificateRequest } from '../decide-join.ts';
import { nodeNameOf } from '../names.ts';
import type { MacAddresses, MacAddressesOf } from './decide-serving.ts';
import {
  parseAlternativeNames,
  type ParsedNames,
  type ParsedRequest,
  parseRequest,
  type RequestedCertificate,
} from './parse-request.ts';

/** A machine, as far as it matters to who may be its Node. */
export interface MachineIdentity {
  readonly uid: string;
  /** On its way out. One whose deletion waits for a pause is not. */
  readonly deleting: boolean;
  /** The Node of that name: none, this machine's, or somebody else's. */
  readonly node: 'absent' | 'ours' | 'foreign';
  /** The Mac it has reserved, and how its Node calls that Mac. Whether it holds it is for the Mac's own object to say. */
  readonly serverID?: string | undefined;
  readonly providerID?: string | undefined;
  /** Of the machine's record: the token that was minted for it and is not retired yet. */
  readonly tokenID?: string | undefined;
  readonly tokenExpiresAt?: number | undefined;
}

/**
 * The machine whose Node bears this name; undefined when there is none. Must not answer from a cache, neither of the machine nor of the
 * Node: an approval cannot be taken back; and a denial is final, and one because of a token that was recorded a moment ago would cost
 * the Mac its join.
 */
export type MachineOf = (
  nodeName: string,
  signal: AbortSignal,
) => Promise<MachineIdentity | undefined> | MachineIdentity | undefined;

export interface ClientSnapshot {
  readonly now: number;
  readonly signerName: string;
  /** Stamped by the API server: nobody can lie here. */
  readonly username: string;
  readonly groups: readonly string[];
  readonly usages: readonly string[];
  readonly expirationSeconds: number | undefined;
  /** Somebody has approved, denied or signed it. */
  readonly decided: boolean;
  readonly reading: ParsedRequest;
  /** Those of the Nodes that ask or are asked for, by the name of the Node. */
  readonly machines: ReadonlyMap<string, MachineIdentity>;
}

/** Whether the Node of that name is a machine's, or will be: the machine has reserved a Mac, and nobody else has the name. */
export const isMachineNodeName = (
  name: string | undefined,
  machines: ReadonlyMap<string, MachineIdentity>,
): boolean => {
  const machine = name === undefined ? undefined : machines.get(name);
  return machine?.node === 'ours' || (machine?.node === 'absent' && machine.serverID !== undefined);
};

/** The Node whose identity is asked for: that of the last common name, which is the one that counts for Go. */
export const requestedNodeName = (reading: ParsedRequest): string | undefined => {
  if (!reading.ok) return undefined;
  return nodeNameOf(reading.requested.subject.findLast(({ type }) => type === 'CN')?.text ?? '');
};

interface ObserveDeps {
  readonly machineOf: MachineOf;
  readonly now: number;
  readonly signal: AbortSignal;
}

export const observeRequest = async (request: CertificateRequest, options: ObserveDeps): Promise<ClientSnapshot> => {
  const { spec, status } = request;
  const reading = parseRequest(spec.request);
  const names = new Set([nodeNameOf(spec.username ?? ''), requestedNodeName(reading)]);
  const machines = new Map<string, MachineIdentity>();
  for (const name of names) {
    const machine = name === undefined ? undefined : await options.machineOf(name, options.signal);
    if (name !== undefined && machine !== undefined) machines.set(name, machine);
  }
  return {
    now: options.now,
    signerName: spec.signerName,
    username: spec.username ?? '',
    groups: spec.groups ?? [],
    usages: spec.usages ?? [],
    expirationSeconds: spec.expirationSeconds,
    decided: (status?.conditions?.length ?? 0) > 0 || status?.certificate !== undefined,
    reading,
    machines,
  };
};

/** All that a request says, and what is known of the Node that made it. */
export interface ServingSnapshot extends ClientSnapshot {
  /** NaN when the server has not said it. */
  readonly createdAt: number;
  readonly names: ParsedNames;
  /** Of the Node that asks; undefined when no machine stands for it. */
  readonly place: MacAddresses | undefined;
}

interface ServingObserveDeps {
  readonly machineOf: MachineOf;
  readonly placeOf: MacAddressesOf;
  readonly now: number;
  readonly signal: AbortSignal;
}

export const observeServing = async (
  request: Live<CertificateRequest>,
  options: ServingObserveDeps,
): Promise<ServingSnapshot> => {
  const seen = await observeRequest(request, options);
  const { reading, machines } = seen;
  const name = nodeNameOf(seen.username);
  const machine = name === undefined ? undefined : machines.get(name);
  return {
    ...seen,
    createdAt: Date.parse(request.metadata.creationTimestamp),
    names: reading.ok ? namesOf(reading.requested) : { ok: false, problem: reading.problem },
    place:
      seen.decided || name === undefined || machine === undefined
        ? undefined
        : await options.placeOf(name, machine, options.signal),
  };
};

const namesOf = ({ attributes }: RequestedCertificate): ParsedNames =>
  attributes.length === 0
    ? { ok: true, names: { addresses: [], dnsNames: [], others: 0 } }
    : parseAlternativeNames(attributes);
