import type { Live } from '@tartan/kube';
import type { CertificateRequest } from '../../controller-deps.ts';
import { kubeletServingSigner, nodeNameOf } from '../names.ts';
import { type ParsedRequest, parseRequest } from './parse-request.ts';

/** What decides who may become the Node of a machine. */
export interface MachineIdentity {
  readonly uid: string;
  /** Being deleted. False while a pause blocks the deletion. */
  readonly deleting: boolean;
  /** The Node of that name: none, this machine's, or another one. */
  readonly node: 'absent' | 'ours' | 'foreign';
  /** The reserved Mac, and its provider ID. Only the MacHost says whether the machine holds it. */
  readonly serverID?: string | undefined;
  readonly providerID?: string | undefined;
  /** From the machine's status: the token that was minted for it and is not retired yet. */
  readonly tokenID?: string | undefined;
  readonly tokenExpiresAt?: number | undefined;
}

/**
 * The machine of the Node with this name; undefined if there is none. Must use live reads of both the machine and the Node: an approval
 * cannot be revoked; and a denial is final, and a stale read of a token that was just recorded would cost the Mac its join.
 */
export type MachineOf = (
  nodeName: string,
  signal: AbortSignal,
) => Promise<MachineIdentity | undefined> | MachineIdentity | undefined;

/** The addresses of a machine's Mac, by source. */
export interface MacAddresses {
  /** Those from Scaleway, of the Mac that the machine holds. */
  readonly providerAddresses: readonly string[];
  readonly node: NodeAddresses;
  /** Macs of this manager are in a tailnet, and their agents publish the address there (`--node-ip-source=tailscale`). */
  readonly tailnet: boolean;
  /** Reported by other Nodes of the cluster. */
  readonly otherNodeAddresses: ReadonlySet<string>;
}

/** Reported by the Node, which writes its own status: proves nothing alone. */
export type NodeAddresses =
  /** Or it has become the Node of another server since the machine was read. */
  { readonly kind: 'absent' } | { readonly kind: 'ours'; readonly internalAddresses: readonly string[] };

/** Must use live reads: an approval cannot be revoked. */
export type MacAddressesOf = (
  nodeName: string,
  machine: MachineIdentity,
  signal: AbortSignal,
) => Promise<MacAddresses> | MacAddresses;

/** The content of a request, and what is known of its Nodes. */
export interface RequestSnapshot {
  readonly now: number;
  /** NaN if unknown. */
  readonly createdAt: number;
  readonly signerName: string;
  /** Set by the API server, so it can be trusted. */
  readonly username: string;
  readonly groups: readonly string[];
  readonly usages: readonly string[];
  readonly expirationSeconds: number | undefined;
  /** It is approved, denied or signed already. */
  readonly decided: boolean;
  readonly reading: ParsedRequest;
  /** The machines of the requesting and the requested Node, by the name of the Node. */
  readonly machines: ReadonlyMap<string, MachineIdentity>;
  /** Of the Node that requests a serving certificate; undefined if it has no machine. */
  readonly macAddresses: MacAddresses | undefined;
}

/** Whether the Node of that name belongs to a machine, or will: the machine has reserved a Mac, and no other Node has the name. */
export const isMachineNodeName = (
  name: string | undefined,
  machines: ReadonlyMap<string, MachineIdentity>,
): boolean => {
  const machine = name === undefined ? undefined : machines.get(name);
  return machine?.node === 'ours' || (machine?.node === 'absent' && machine.serverID !== undefined);
};

/** The Node whose identity is requested: from the last common name, which is the one that Go uses. */
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
