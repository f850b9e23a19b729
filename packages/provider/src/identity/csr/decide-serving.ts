import { isIPv4 } from 'node:net';
import { certificateLifetimeSeconds, kubeletServingSigner, nodeNameOf, nodesGroup, nodeUser } from '../names.ts';
import { isMachineNodeName, type MachineIdentity, requestedNodeName, type ServingSnapshot } from './observe.ts';
import { type AlternativeNames, canonicalAddress, hasNodeSubject } from './parse-request.ts';

/** For a Node to be registered, or for Scaleway to tell an address that is new. Agents are patient for longer. */
const gracePeriodMs = 5 * 60_000;
const lookAgainMs = 5_000;

/**
 * Who may answer under which address. All policy is here; pure and total.
 *
 * Ours are requests to the signer of kubelets' serving certificates that come from the Node of a machine, or ask for one. They are denied
 * for what cannot become right. What may be right a moment later waits: that the Node is there, and that its address is known.
 */
export const decideServing = (snapshot: ServingSnapshot): Decision => {
  if (snapshot.signerName !== kubeletServingSigner) return ignored('OtherSigner');
  if (snapshot.decided) return ignored('Settled');
  if (!isOurs(snapshot)) return ignored('NotOurs');
  const { reading, names } = snapshot;
  if (!reading.ok) return denied('MalformedRequest');
  const name = requestedNodeName(reading);
  if (name === undefined || !hasNodeSubject(reading.requested, name)) return denied('WrongSubject');
  const machine = snapshot.machines.get(name);
  if (machine === undefined) return denied('NoSuchMachine');
  if (machine.deleting) return denied('MachineIsBeingDeleted', name);
  if (snapshot.username !== nodeUser(name) || !snapshot.groups.includes(nodesGroup)) return denied('NotItself', name);
  if (!names.ok) return denied('ExtensionsAsked', name);
  return (
    formProblem(snapshot, reading.requested.keyIsRSA, name) ??
    nameProblem(names.names, name) ??
    addressProblem(snapshot, names.names, name) ??
    approved(name)
  );
};

const isOurs = ({ username, reading, machines }: ServingSnapshot): boolean =>
  [nodeNameOf(username), requestedNodeName(reading)].some((name) => isMachineNodeName(name, machines));

const formProblem = (
  { usages, expirationSeconds }: ServingSnapshot,
  keyIsRSA: boolean,
  name: string,
): Decision | undefined => {
  const needed = ['digital signature', 'server auth'];
  const allowed = [...needed, ...(keyIsRSA ? ['key encipherment'] : [])];
  if (!usages.every((usage) => allowed.includes(usage)) || !needed.every((usage) => usages.includes(usage)))
    return denied('WrongUsages', name);
  // An address may be another Mac's tomorrow. Without a wish the signer would give the certificate a year.
  if (expirationSeconds === undefined || !(expirationSeconds <= certificateLifetimeSeconds))
    return denied('LifetimeTooLong', name);
  return undefined;
};

const nameProblem = ({ addresses, dnsNames, others }: AlternativeNames, name: string): Decision | undefined => {
  if (others > 0) return denied('ForeignNames', name);
  if (addresses.length === 0) return denied('NoNames', name);
  return dnsNames.every((dnsName) => dnsName === name) ? undefined : denied('NotItsName', name);
};

const addressProblem = (
  snapshot: ServingSnapshot,
  { addresses }: AlternativeNames,
  name: string,
): Decision | undefined => {
  const { place } = snapshot;
  const why = place === undefined ? 'NodeMissing' : unmetCondition(place, addresses);
  if (why === undefined) return undefined;
  const isYoung = snapshot.now - snapshot.createdAt < gracePeriodMs;
  return isYoung ? waiting(why, lookAgainMs) : denied(why, name);
};

const unmetCondition = (
  place: MacAddresses,
  addresses: readonly string[],
): 'NodeMissing' | 'NotItsAddress' | undefined => {
  if (place.node.kind === 'absent') return 'NodeMissing';
  return addresses.every((address) => isOwnAddress(address, place)) ? undefined : 'NotItsAddress';
};

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

/**
 * Whether a certificate may speak for that address.
 *
 * Scaleway's word is enough. An address of the tailnet nobody can vouch for but the Mac itself, as Scaleway does not know it; its Node's
 * word is taken when there is a tailnet, and no other Node says the same. Only there: who is on the tailnet cannot receive what is sent
 * to another member, so a certificate for an address that is not its own is of no use to it. On any other network it might be.
 */
const isOwnAddress = (
  address: string,
  { providerAddresses, node, tailnet, otherNodeAddresses }: MacAddresses,
): boolean =>
  providerAddresses.some((known) => canonicalAddress(known) === address) ||
  (tailnet &&
    isTailnetAddress(address) &&
    node.kind === 'ours' &&
    node.internalAddresses.includes(address) &&
    !otherNodeAddresses.has(address));

/** 100.64.0.0/10, from which every tailnet takes its addresses. */
const isTailnetAddress = (address: string): boolean => {
  const [first, second] = address.split('.').map(Number);
  return isIPv4(address) && first === 100 && second !== undefined && second >= 64 && second < 128;
};

/** What can become of a request for a serving certificate, and the words for it. As with clients', nothing that a stranger wrote is repeated. */
type Decision =
  | { readonly kind: 'leave'; readonly why: 'OtherSigner' | 'Settled' | 'NotOurs' }
  | { readonly kind: 'wait'; readonly why: WaitReason; readonly forMs: number }
  | { readonly kind: 'approve'; readonly reason: 'MachineServes'; readonly message: string; readonly nodeName: string }
  | { readonly kind: 'deny'; readonly reason: DenyReason; readonly message: string };

type WaitReason = 'NodeMissing' | 'NotItsAddress';
type DenyReason = keyof typeof denials;

const retryAdvice = 'The agent asks again by itself.';

const denials = {
  MalformedRequest: () => `The request is not a plain PKCS#10 request in PEM, as agents send it. ${retryAdvice}`,
  WrongSubject: () =>
    'The subject must be O=system:nodes, CN=system:node:<machine> and nothing else: a Mac serves as its own Node only.',
  NoSuchMachine: () =>
    'The request asks for a Node that no machine stands for. If its machine was deleted, the Mac is on its way back to the pool.',
  MachineIsBeingDeleted: (name: string) => `Machine ${name} is being deleted, so its Mac gets no certificate any more.`,
  NotItself: (name: string) =>
    `Somebody else than Node ${name} asks for its serving certificate. A Node asks for its own, with its own client certificate; look at who made this request.`,
  WrongUsages: (name: string) =>
    `The usages of the request for ${name} must be exactly "digital signature" and "server auth" (and may be "key encipherment" for an RSA key).`,
  LifetimeTooLong: (name: string) =>
    `The request for ${name} must ask for expirationSeconds of at most 604800 (7 days).`,
  ExtensionsAsked: (name: string) =>
    `The request for ${name} must ask for alternative names, and for no other extension.`,
  NoNames: (name: string) =>
    `The request for ${name} names no address. The API server reaches a Node by its address, and a certificate without one is of no use.`,
  ForeignNames: (name: string) =>
    `The request for ${name} asks for names that are neither addresses nor DNS names. A Node has no others.`,
  NotItsName: (name: string) =>
    `The request for ${name} asks for a DNS name that is not its own. The only one it may have is ${name}.`,
  NodeMissing: (name: string) =>
    `There is no Node ${name} that serves. ${retryAdvice} If it goes on, see why the agent does not register its Node.`,
  NotItsAddress: (name: string) =>
    `The request for ${name} asks for an address that is not known to be its own. Known are the address that Scaleway gives to its Mac, and with a tailnet (--tailscale-auth-key-secret-name) the one that its Node alone publishes from 100.64.0.0/10. Compare it with: kubectl get node ${name} -o wide`,
} as const;

const ignored = (why: Extract<Decision, { kind: 'leave' }>['why']): Decision => ({ kind: 'leave', why });

const waiting = (why: WaitReason, forMs: number): Decision => ({ kind: 'wait', why, forMs });

const approved = (nodeName: string): Decision => ({
  kind: 'approve',
  reason: 'MachineServes',
  message: `Node ${nodeName} asks for a serving certificate for addresses of its own, and its machine is alive.`,
  nodeName,
});

const denied = (reason: DenyReason, nodeName = ''): Decision => ({
  kind: 'deny',
  reason,
  message: denials[reason](nodeName),
});
