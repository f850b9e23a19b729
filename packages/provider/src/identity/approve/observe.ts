import type { CertificateRequest } from '../issued-identity.ts';
import { nodeNameOf } from '../names.ts';
import { type Reading, readRequest } from './certificate-request.ts';

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

export interface Snapshot {
  readonly now: number;
  readonly signerName: string;
  /** Stamped by the API server: nobody can lie here. */
  readonly username: string;
  readonly groups: readonly string[];
  readonly usages: readonly string[];
  readonly expirationSeconds: number | undefined;
  /** Somebody has approved, denied or signed it. */
  readonly settled: boolean;
  readonly reading: Reading;
  /** Those of the Nodes that ask or are asked for, by the name of the Node. */
  readonly machines: ReadonlyMap<string, MachineIdentity>;
}

/** Whether the Node of that name is a machine's, or will be: the machine has reserved a Mac, and nobody else has the name. */
export const isNameOfMachine = (name: string | undefined, machines: ReadonlyMap<string, MachineIdentity>): boolean => {
  const machine = name === undefined ? undefined : machines.get(name);
  return machine?.node === 'ours' || (machine?.node === 'absent' && machine.serverID !== undefined);
};

/** The Node whose identity is asked for: that of the last common name, which is the one that counts for Go. */
export const askedNode = (reading: Reading): string | undefined => {
  if (!reading.ok) return undefined;
  return nodeNameOf(reading.requested.subject.findLast(({ type }) => type === 'CN')?.text ?? '');
};

export interface ObserveOptions {
  readonly machineOf: MachineOf;
  readonly now: number;
  readonly signal: AbortSignal;
}

export const observe = async (request: CertificateRequest, options: ObserveOptions): Promise<Snapshot> => {
  const { spec, status } = request;
  const reading = readRequest(spec.request);
  const names = new Set([nodeNameOf(spec.username ?? ''), askedNode(reading)]);
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
    settled: (status?.conditions?.length ?? 0) > 0 || status?.certificate !== undefined,
    reading,
    machines,
  };
};
