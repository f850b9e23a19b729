/**
 * What can become of a certificate request, and the words for it. Texts name machines that exist and nothing else of the request: what
 * a stranger wrote into it is not repeated.
 */
export type Decision =
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

const again = 'Delete this request; the agent makes another one.';

const denials = {
  MalformedRequest: () => `The request is not a plain PKCS#10 request in PEM, as agents send it. ${again}`,
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

export const left = (why: LeaveReason): Decision => ({ kind: 'leave', why });

export const approved = (reason: ApproveReason, nodeName: string): Decision => ({
  kind: 'approve',
  reason,
  message: approvals[reason](nodeName),
  nodeName,
});

export const denied = (reason: DenyReason, nodeName = ''): Decision => ({
  kind: 'deny',
  reason,
  message: denials[reason](nodeName),
});
