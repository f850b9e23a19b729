/** What can become of a request for a serving certificate, and the words for it. As with clients', nothing that a stranger wrote is repeated. */
export type Decision =
  | { readonly kind: 'leave'; readonly why: 'OtherSigner' | 'Settled' | 'NotOurs' }
  | { readonly kind: 'wait'; readonly why: WaitReason; readonly forMs: number }
  | { readonly kind: 'approve'; readonly reason: 'MachineServes'; readonly message: string; readonly nodeName: string }
  | { readonly kind: 'deny'; readonly reason: DenyReason; readonly message: string };

type WaitReason = 'NodeMissing' | 'NotItsAddress';
type DenyReason = keyof typeof denials;

const again = 'The agent asks again by itself.';

const denials = {
  MalformedRequest: () => `The request is not a plain PKCS#10 request in PEM, as agents send it. ${again}`,
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
    `There is no Node ${name} that serves. ${again} If it goes on, see why the agent does not register its Node.`,
  NotItsAddress: (name: string) =>
    `The request for ${name} asks for an address that is not known to be its own. Known are the address that Scaleway gives to its Mac, and with a tailnet (--tailscale-auth-key-secret-name) the one that its Node alone publishes from 100.64.0.0/10. Compare it with: kubectl get node ${name} -o wide`,
} as const;

export const left = (why: Extract<Decision, { kind: 'leave' }>['why']): Decision => ({ kind: 'leave', why });

export const waiting = (why: WaitReason, forMs: number): Decision => ({ kind: 'wait', why, forMs });

export const approved = (nodeName: string): Decision => ({
  kind: 'approve',
  reason: 'MachineServes',
  message: `Node ${nodeName} asks for a serving certificate for addresses of its own, and its machine is alive.`,
  nodeName,
});

export const denied = (reason: DenyReason, nodeName = ''): Decision => ({
  kind: 'deny',
  reason,
  message: denials[reason](nodeName),
});
