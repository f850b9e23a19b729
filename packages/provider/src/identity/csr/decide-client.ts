import {
  certificateLifetimeSeconds,
  joinGroup,
  kubeletClientSigner,
  nodeNameOf,
  nodesGroup,
  nodeUser,
  tokenIDOf,
} from '../names.ts';
import { type ClientSnapshot, isMachineNodeName, type MachineIdentity, requestedNodeName } from './observe.ts';
import { hasNodeSubject, type RequestedCertificate } from './parse-request.ts';

/**
 * Who becomes which Node. All policy is here; pure and total.
 *
 * Ours are requests to the signer of kubelets' client certificates that come with a join token, from the Node of a machine, or for the
 * Node of a machine. Those are approved or denied, never kept waiting: what is unclear now will not be clearer later. Everything else
 * is somebody else's, such as the Linux nodes of the same cluster; also when a machine has the name of one.
 */
export const decideClient = (snapshot: ClientSnapshot): Decision => {
  if (snapshot.signerName !== kubeletClientSigner) return ignored('OtherSigner');
  if (snapshot.decided) return ignored('Settled');
  if (!isOurs(snapshot)) return ignored('NotOurs');
  if (!snapshot.reading.ok) return denied('MalformedRequest');
  const { requested } = snapshot.reading;
  const name = requestedNodeName(snapshot.reading);
  if (name === undefined || !hasNodeSubject(requested, name)) return denied('WrongSubject');
  const machine = snapshot.machines.get(name);
  if (machine === undefined) return denied('NoSuchMachine');
  if (machine.node === 'foreign') return denied('NodeNameTaken', name);
  if (machine.deleting) return denied('MachineIsBeingDeleted', name);
  return requesterProblem(snapshot, name, machine) ?? formProblem(snapshot, requested, name) ?? approve(snapshot, name);
};

const isOurs = ({ groups, username, reading, machines }: ClientSnapshot): boolean =>
  groups.includes(joinGroup) ||
  [nodeNameOf(username), requestedNodeName(reading)].some((name) => isMachineNodeName(name, machines));

const isRenewal = ({ username, groups }: ClientSnapshot): boolean =>
  nodeNameOf(username) !== undefined && groups.includes(nodesGroup);

/** A Node renews itself; a token makes the one Node that it was minted for; nobody else has a say. */
const requesterProblem = (snapshot: ClientSnapshot, name: string, machine: MachineIdentity): Decision | undefined => {
  if (isRenewal(snapshot)) return snapshot.username === nodeUser(name) ? undefined : denied('NotItself', name);
  const tokenID = tokenIDOf(snapshot.username);
  if (tokenID === undefined || !snapshot.groups.includes(joinGroup)) return denied('NotItsToken', name);
  if (machine.tokenID !== tokenID) return denied('NotItsToken', name);
  // The API server took it when the request was made; that may have been long ago.
  if (machine.tokenExpiresAt !== undefined && !(snapshot.now < machine.tokenExpiresAt))
    return denied('TokenExpired', name);
  return undefined;
};

const formProblem = (
  { usages, expirationSeconds }: ClientSnapshot,
  { attributes, keyIsRSA }: RequestedCertificate,
  name: string,
): Decision | undefined => {
  if (attributes.length > 0) return denied('ExtensionsAsked', name);
  const allowed = ['client auth', 'digital signature', ...(keyIsRSA ? ['key encipherment'] : [])];
  const needed = ['client auth', 'digital signature'];
  if (!usages.every((usage) => allowed.includes(usage)) || !needed.every((usage) => usages.includes(usage)))
    return denied('WrongUsages', name);
  // Without a wish the signer would give it a year.
  if (expirationSeconds === undefined || !(expirationSeconds <= certificateLifetimeSeconds))
    return denied('LifetimeTooLong', name);
  return undefined;
};

const approve = (snapshot: ClientSnapshot, name: string): Decision =>
  approved(isRenewal(snapshot) ? 'NodeRenewsItself' : 'MachineJoins', name);

/**
 * What can become of a certificate request, and the words for it. Texts name machines that exist and nothing else of the request: what
 * a stranger wrote into it is not repeated.
 */
type Decision =
  | { readonly kind: 'leave'; readonly why: LeaveReason }
  | { readonly kind: 'approve'; readonly reason: ApproveReason; readonly message: string; readonly nodeName: string }
  | { readonly kind: 'deny'; readonly reason: DenyReason; readonly message: string };

type LeaveReason = 'OtherSigner' | 'Settled' | 'NotOurs';
type ApproveReason = keyof typeof approvals;
type DenyReason = keyof typeof denials;

const approvals = {
  MachineJoins: (name: string) => `The Mac of machine ${name} joins with the token that was minted for it.`,
  NodeRenewsItself: (name: string) => `Node ${name} renews its own certificate, and its machine is alive.`,
} as const;

const deleteAdvice = 'Delete this request; the agent makes another one.';

const denials = {
  MalformedRequest: () => `The request is not a plain PKCS#10 request in PEM, as agents send it. ${deleteAdvice}`,
  WrongSubject: () =>
    'The subject must be O=system:nodes, CN=system:node:<machine> and nothing else: a Mac gets the identity of its own Node only.',
  NoSuchMachine: () =>
    'The request asks for a Node that no machine stands for. If its machine was deleted, the Mac is on its way back to the pool.',
  MachineIsBeingDeleted: (name: string) => `Machine ${name} is being deleted, so its Mac gets no certificate any more.`,
  NodeNameTaken: (name: string) =>
    `The Node ${name} is not the Mac of machine ${name}, and nobody else gets an identity under its name. Delete the Machine, or the Node if nobody needs it; the agent asks again by itself.`,
  NotItself: (name: string) =>
    `Another Node asks for the identity of ${name}. A Node may renew its own certificate only; look at who made this request.`,
  NotItsToken: (name: string) =>
    `The request does not come with the token that was minted for machine ${name}. If the Mac holds an older token, it gets a new one with its next join.`,
  TokenExpired: (name: string) =>
    `The token that was minted for machine ${name} has expired. The Mac gets a new one with its next join.`,
  ExtensionsAsked: (name: string) =>
    `The request for ${name} asks for alternative names or other extensions. The client certificate of a Node has none.`,
  WrongUsages: (name: string) =>
    `The usages of the request for ${name} must be exactly "client auth" and "digital signature" (and may be "key encipherment" for an RSA key).`,
  LifetimeTooLong: (name: string) =>
    `The request for ${name} must ask for expirationSeconds of at most 604800 (7 days).`,
} as const;

const ignored = (why: LeaveReason): Decision => ({ kind: 'leave', why });

const approved = (reason: ApproveReason, nodeName: string): Decision => ({
  kind: 'approve',
  reason,
  message: approvals[reason](nodeName),
  nodeName,
});

const denied = (reason: DenyReason, nodeName = ''): Decision => ({
  kind: 'deny',
  reason,
  message: denials[reason](nodeName),
});
