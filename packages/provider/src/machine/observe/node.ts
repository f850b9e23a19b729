import { annotations, formatProviderID, type MachineStatus, type MacHost, parseProviderID } from '@tartan/api';
import type { Live } from '@tartan/kube';
import type { Machine, Node } from '../../controller-deps.ts';
import { sshAddressOf } from '../../host-work/ssh-address.ts';
import { canonicalAddress } from '../../identity/csr/parse-request.ts';
import type { MissingNodeTracker } from '../../pods/missing-nodes.ts';
import type { NodeFacts } from '../snapshot.ts';

/**
 * Exactly what the agent was configured with and what Cluster API binds by (C8). Undefined without a server in the status: a user may write
 * any providerID into a spec, even that of a Node that is no Mac.
 */
export const providerIDOf = ({ spec, status }: Machine): string | undefined => {
  const { serverID } = status ?? {};
  if (!serverID) return undefined;
  return spec.providerID && parseProviderID(spec.providerID)?.serverID === serverID
    ? spec.providerID
    : formatProviderID({ zone: spec.zone, serverID });
};

/** For a machine whose status was lost, and that is about to claim its Mac again. */
const recordedProviderID = ({ spec }: Machine): string | undefined =>
  spec.providerID && parseProviderID(spec.providerID) ? spec.providerID : undefined;

/** Before a Mac is provisioned, its Node may be missing. */
export const isNodeExpected = ({ status }: Pick<Machine, 'status'>): boolean =>
  status?.initialization?.provisioned === true;

/** `host` is the Mac that is reserved, or would be. The pinned host key is checked before an identity is issued (machine-lookup.ts). */
export const nodeFacts = (
  node: Live<Node> | undefined,
  machine: Machine,
  missingNodes: Pick<MissingNodeTracker, 'missingForMs'>,
  host: MacHost | undefined,
): NodeFacts => {
  const { name } = machine.metadata;
  if (node === undefined)
    return { kind: 'missing', forMs: isNodeExpected(machine) ? missingNodes.missingForMs(name) : 0 };
  const mac = { providerID: providerIDOf(machine) ?? recordedProviderID(machine), address: addressOf(host) };
  if (!isNodeOf(node, mac)) return { kind: 'foreign', providerID: node.spec?.providerID ?? '' };
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    kind: 'ours',
    ready: ready?.status === 'True' || ready?.status === 'False' ? ready.status : 'Unknown',
    message: ready?.message ?? '',
    summary: node.metadata.annotations?.[annotations.hostConfigHash] || undefined,
    unschedulable: node.spec?.unschedulable === true,
    cordonedByUs: annotations.cordonedForRoll in (node.metadata.annotations ?? {}),
  };
};

const addressOf = (host: MacHost | undefined): string | undefined =>
  host?.status?.ip === undefined ? undefined : sshAddressOf(host.status.ip)?.host;

type Address = NonNullable<MachineStatus['addresses']>[number];

const isKnown = (type: string): type is Address['type'] =>
  ['Hostname', 'ExternalIP', 'InternalIP', 'ExternalDNS', 'InternalDNS'].includes(type);

/** Those of a Node that is the machine's own. */
export const nodeAddresses = (node: Live<Node> | undefined, facts: NodeFacts): readonly Address[] =>
  facts.kind !== 'ours'
    ? []
    : (node?.status?.addresses ?? []).flatMap(({ type, address }) =>
        isKnown(type) && address ? [{ type, address }] : [],
      );

/** What identifies the Node of a Mac. */
interface KnownMac {
  readonly providerID: string | undefined;
  /** The address from Scaleway. Undefined: a Node without a providerID is not recognized. */
  readonly address: string | undefined;
}

/**
 * Whether a Node is this Mac, or another Node of the same name. Our agent registers its Node with its providerID, which is immutable from
 * then on. Only Nodes of the original's agent may have none: those are recognized by their address.
 * A Node can claim the providerID of another Mac, but only under its own name: NodeRestriction lets no Node write another. It gains
 * nothing, as Nodes are always looked up by the name of the machine.
 */
export const isNodeOf = ({ spec, status }: Node, { providerID, address }: KnownMac): boolean => {
  if (spec?.providerID) return spec.providerID === providerID;
  if (address === undefined) return false;
  const known = canonicalAddress(address);
  return (status?.addresses ?? []).some(
    ({ type, address: own }) => (type === 'InternalIP' || type === 'ExternalIP') && canonicalAddress(own) === known,
  );
};
