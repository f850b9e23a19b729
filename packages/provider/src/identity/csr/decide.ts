import { isIPv4 } from 'node:net';
import {
  certificateLifetimeSeconds,
  joinGroup,
  kubeletClientSigner,
  kubeletServingSigner,
  nodeNameOf,
  nodesGroup,
  nodeUser,
  tokenIDOf,
} from '../names.ts';
import {
  isMachineNodeName,
  type MacAddresses,
  type MachineIdentity,
  requestedNodeName,
  type RequestSnapshot,
} from './observe.ts';
import {
  canonicalAddress,
  hasNodeSubject,
  parseAlternativeNames,
  type ParsedNames,
  type RequestedCertificate,
} from './parse-request.ts';

/**
 * Who becomes which Node, and which addresses a Node may serve under. All policy is here; pure and total.
 * Requests for kubelet client and serving certificates are ours if they come with a join token (client only), from the Node of a machine,
 * or for the Node of a machine. All others are left alone, such as those of Linux nodes in the same cluster, even if a machine has the name
 * of one. Ours are approved or denied. Only a serving request may wait: for its Node to register, and for its address.
 */
export const decide = (snapshot: RequestSnapshot): Decision => {
  const purpose = purposes.get(snapshot.signerName);
  if (purpose === undefined) return skip('OtherSigner');
  if (snapshot.decided) return skip('AlreadyDecided');
  if (!isOurs(snapshot, purpose)) return skip('NotOurs');
  const { reading } = snapshot;
  const deny = (reason: DenyReason, nodeName = ''): Decision => ({
    kind: 'deny',
    reason,
    message: denials[reason](nodeName, purpose),
  });
  if (!reading.ok) return deny('MalformedRequest');
  const name = requestedNodeName(reading);
  if (name === undefined || !hasNodeSubject(reading.requested, name)) return deny('WrongSubject');
  const machine = snapshot.machines.get(name);
  if (machine === undefined) return deny('NoSuchMachine');
  const subject: Subject = { snapshot, requested: reading.requested, name, machine };
  const problem = purpose === 'client auth' ? clientProblem(subject) : servingProblem(subject);
  if (problem !== undefined) return deny(problem, name);
  return purpose === 'client auth'
    ? approve(isRenewal(snapshot) ? 'NodeRenewsItself' : 'MachineJoins', name)
    : decideAddresses(subject, deny);
};

type Purpose = 'client auth' | 'server auth';

const purposes: ReadonlyMap<string, Purpose> = new Map([
  [kubeletClientSigner, 'client auth'],
  [kubeletServingSigner, 'server auth'],
]);

/** A request for the Node of a machine. */
interface Subject {
  readonly snapshot: RequestSnapshot;
  readonly requested: RequestedCertificate;
  readonly name: string;
  readonly machine: MachineIdentity;
}

const isOurs = ({ groups, username, reading, machines }: RequestSnapshot, purpose: Purpose): boolean =>
  (purpose === 'client auth' && groups.includes(joinGroup)) ||
  [nodeNameOf(username), requestedNodeName(reading)].some((name) => isMachineNodeName(name, machines));

const isRenewal = ({ username, groups }: RequestSnapshot): boolean =>
  nodeNameOf(username) !== undefined && groups.includes(nodesGroup);

const isFromNode = ({ username, groups }: RequestSnapshot, name: string): boolean =>
  username === nodeUser(name) && groups.includes(nodesGroup);

const clientProblem = (subject: Subject): DenyReason | undefined => {
  const { machine, requested } = subject;
  if (machine.node === 'foreign') return 'NodeNameTaken';
  if (machine.deleting) return 'MachineIsBeingDeleted';
  return (
    requesterProblem(subject) ??
    (requested.attributes.length > 0 ? 'ExtensionsAsked' : undefined) ??
    formProblem(subject, 'client auth')
  );
};

/** A Node renews itself; a token creates the one Node that it was minted for; all others are denied. */
const requesterProblem = ({ snapshot, machine, name }: Subject): DenyReason | undefined => {
  if (isRenewal(snapshot)) return isFromNode(snapshot, name) ? undefined : 'NotItself';
  const tokenID = tokenIDOf(snapshot.username);
  if (tokenID === undefined || !snapshot.groups.includes(joinGroup)) return 'NotItsToken';
  if (machine.tokenID !== tokenID) return 'NotItsToken';
  // The API server accepted the token when the request was created, which may be long ago.
  return machine.tokenExpiresAt !== undefined && !(snapshot.now < machine.tokenExpiresAt) ? 'TokenExpired' : undefined;
};

const formProblem = ({ snapshot, requested }: Subject, purpose: Purpose): DenyReason | undefined => {
  const { usages, expirationSeconds } = snapshot;
  const needed = [purpose, 'digital signature'];
  const allowed = [...needed, ...(requested.keyIsRSA ? ['key encipherment'] : [])];
  if (!usages.every((usage) => allowed.includes(usage)) || !needed.every((usage) => usages.includes(usage)))
    return 'WrongUsages';
  // Without `expirationSeconds` the signer would grant a year. Another Mac may have the address tomorrow.
  return expirationSeconds === undefined || !(expirationSeconds <= certificateLifetimeSeconds)
    ? 'LifetimeTooLong'
    : undefined;
};

const servingProblem = (subject: Subject): DenyReason | undefined => {
  const { snapshot, requested, machine, name } = subject;
  if (machine.deleting) return 'MachineIsBeingDeleted';
  if (!isFromNode(snapshot, name)) return 'NotItself';
  const parsed = namesOf(requested);
  if (!parsed.ok) return 'ExtensionsAsked';
  const problem = formProblem(subject, 'server auth');
  if (problem !== undefined) return problem;
  const { addresses, dnsNames, others } = parsed.names;
  if (others > 0) return 'ForeignNames';
  if (addresses.length === 0) return 'NoNames';
  return dnsNames.every((dnsName) => dnsName === name) ? undefined : 'NotItsName';
};

const namesOf = ({ attributes }: RequestedCertificate): ParsedNames =>
  attributes.length === 0
    ? { ok: true, names: { addresses: [], dnsNames: [], others: 0 } }
    : parseAlternativeNames(attributes);

/** Time for a Node to register, or for Scaleway to return a new address. Agents wait longer. */
const gracePeriodMs = 5 * 60_000;
const lookAgainMs = 5_000;

const decideAddresses = (
  { snapshot, requested, name }: Subject,
  deny: (reason: DenyReason, nodeName: string) => Decision,
): Decision => {
  const why = addressProblem(snapshot.macAddresses, requested);
  if (why === undefined) return approve('MachineServes', name);
  const isYoung = snapshot.now - snapshot.createdAt < gracePeriodMs;
  return isYoung ? { kind: 'wait', why, forMs: lookAgainMs } : deny(why, name);
};

const addressProblem = (
  known: MacAddresses | undefined,
  requested: RequestedCertificate,
): 'NodeMissing' | 'NotItsAddress' | undefined => {
  if (known === undefined || known.node.kind === 'absent') return 'NodeMissing';
  const parsed = namesOf(requested);
  return parsed.ok && parsed.names.addresses.every((address) => isOwnAddress(address, known))
    ? undefined
    : 'NotItsAddress';
};

/**
 * Whether a certificate may contain that address.
 * An address from Scaleway is trusted. Only the Mac itself knows its tailnet address, so what its Node reports counts if there is a tailnet
 * and no other Node reports the same. This is safe only there: a member of the tailnet cannot receive traffic to another member, so a
 * certificate for a foreign address is of no use to it. On any other network it might be.
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

/** 100.64.0.0/10, the range of every tailnet. */
const isTailnetAddress = (address: string): boolean => {
  const [first, second] = address.split('.').map(Number);
  return isIPv4(address) && first === 100 && second !== undefined && second >= 64 && second < 128;
};

/** The possible decisions. Messages name machines that exist and quote nothing else of the request. */
export type Decision =
  | { readonly kind: 'skip'; readonly why: 'OtherSigner' | 'AlreadyDecided' | 'NotOurs' }
  | { readonly kind: 'wait'; readonly why: 'NodeMissing' | 'NotItsAddress'; readonly forMs: number }
  | { readonly kind: 'approve'; readonly reason: ApproveReason; readonly message: string; readonly nodeName: string }
  | { readonly kind: 'deny'; readonly reason: DenyReason; readonly message: string };

type ApproveReason = keyof typeof approvals;
type DenyReason = keyof typeof denials;

const approvals = {
  MachineJoins: (name: string) => `The Mac of machine ${name} joins with the token that was minted for it.`,
  NodeRenewsItself: (name: string) => `Node ${name} renews its own certificate, and its machine is alive.`,
  MachineServes: (name: string) =>
    `Node ${name} asks for a serving certificate for addresses of its own, and its machine is alive.`,
} as const;

const retryAdvice = 'The agent asks again by itself.';

const denials = {
  MalformedRequest: () => `The request is not a plain PKCS#10 request in PEM, as agents send it. ${retryAdvice}`,
  WrongSubject: () =>
    'The subject must be O=system:nodes, CN=system:node:<machine> and nothing else: a Mac gets the identity of its own Node only.',
  NoSuchMachine: () =>
    'The request asks for a Node that has no machine. If its machine was deleted, the Mac is being released to the pool.',
  MachineIsBeingDeleted: (name: string) => `Machine ${name} is being deleted, so its Mac gets no certificate any more.`,
  NodeNameTaken: (name: string) =>
    `The Node ${name} is not the Mac of machine ${name}, and nobody else gets an identity under its name. Delete the Machine, or the Node if nobody needs it; the agent asks again by itself.`,
  NotItself: (name: string) =>
    `Somebody else than Node ${name} asks for its certificate. A Node asks for its own only, with its own client certificate; look at who made this request.`,
  NotItsToken: (name: string) =>
    `The request does not come with the token that was minted for machine ${name}. If the Mac holds an older token, it gets a new one with its next join.`,
  TokenExpired: (name: string) =>
    `The token that was minted for machine ${name} has expired. The Mac gets a new one with its next join.`,
  ExtensionsAsked: (name: string, purpose: Purpose) =>
    purpose === 'client auth'
      ? `The request for ${name} asks for alternative names or other extensions. The client certificate of a Node has none.`
      : `The request for ${name} must ask for alternative names, and for no other extension.`,
  WrongUsages: (name: string, purpose: Purpose) =>
    `The usages of the request for ${name} must be exactly "${purpose}" and "digital signature" (and may be "key encipherment" for an RSA key).`,
  LifetimeTooLong: (name: string) =>
    `The request for ${name} must ask for expirationSeconds of at most 604800 (7 days).`,
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

const skip = (why: Extract<Decision, { kind: 'skip' }>['why']): Decision => ({ kind: 'skip', why });

const approve = (reason: ApproveReason, nodeName: string): Decision => ({
  kind: 'approve',
  reason,
  message: approvals[reason](nodeName),
  nodeName,
});
