import type { Live } from '@tartan/kube';
import type { CertificateRequest } from '../../controller-deps.ts';
import { kubeletServingSigner, nodeNameOf } from '../names.ts';
import { type ParsedRequest, parseRequest } from './parse-request.ts';

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

/** Where a machine's Mac can be reached, and who says so. */
export interface MacAddresses {
  /** Those that Scaleway gives to the Mac that the machine holds. */
  readonly providerAddresses: readonly string[];
  readonly node: NodeAddresses;
  /** Macs of this manager are on a tailnet, and their agents publish the address there (`--node-ip-source=tailscale`). */
  readonly tailnet: boolean;
  /** What other Nodes of the cluster say of themselves. */
  readonly otherNodeAddresses: ReadonlySet<string>;
}

/** What the Node says of itself. It writes its own status: this proves nothing alone. */
export type NodeAddresses =
  /** Or it has become somebody else's since the machine was looked at. */
  { readonly kind: 'absent' } | { readonly kind: 'ours'; readonly internalAddresses: readonly string[] };

/** Must not answer from a cache: an approval cannot be taken back. */
export type MacAddressesOf = (
  nodeName: string,
  machine: MachineIdentity,
  signal: AbortSignal,
) => Promise<MacAddresses> | MacAddresses;

/** All that a request says, and what is known of the Nodes it is about. */
export interface RequestSnapshot {
  readonly now: number;
  /** NaN when the server has not said it. */
  readonly createdAt: number;
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
  /** Of the Node that asks for a serving certificate; undefined when no machine stands for it. */
  readonly macAddresses: MacAddresses | undefined;
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

export interface RequestReaders {
  readonly machineOf: MachineOf;
  readonly macAddressesOf: MacAddressesOf;
}

export const observeRequest = async (
  { metadata, spec, status }: Live<CertificateRequest>,
  options: RequestReaders & { readonly now: number; readonly signal: AbortSignal },
): Promise<RequestSnapshot> => {
  const { now, signal } = options;
  const reading = parseRequest(spec.request);
  const requester = nodeNameOf(spec.username ?? '');
  const machines = new Map<string, MachineIdentity>();
  for (const name of new Set([requester, requestedNodeName(reading)])) {
    const machine = name === undefined ? undefined : await options.machineOf(name, signal);
    if (name !== undefined && machine !== undefined) machines.set(name, machine);
  }
  const decided = (status?.conditions?.length ?? 0) > 0 || status?.certificate !== undefined;
  const machine = machines.get(requester ?? '');
  const needsAddresses = spec.signerName === kubeletServingSigner && !decided;
  return {
    now,
    createdAt: Date.parse(metadata.creationTimestamp),
    signerName: spec.signerName,
    username: spec.username ?? '',
    groups: spec.groups ?? [],
    usages: spec.usages ?? [],
    expirationSeconds: spec.expirationSeconds,
    decided,
    reading,
    machines,
    macAddresses:
      needsAddresses && requester !== undefined && machine !== undefined
        ? await options.macAddressesOf(requester, machine, signal)
        : undefined,
  };
};
