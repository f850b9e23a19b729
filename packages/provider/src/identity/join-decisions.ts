import { certificateLifetimeSeconds } from './names.ts';

/** The Lease of a Node, in `kube-node-lease`, as far as it tells about its identity. */
export interface NodeLease {
  readonly nodeName: string;
  /** By the Mac's clock. */
  readonly renewedAt: number;
}

/** The first certificate that was issued for a token. */
export interface CertificateIdentity {
  readonly nodeName: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/**
 * A token has done its work when the identity that came from it renews its Lease: only that identity may (Node authorizer). A renewal
 * from before the certificate is that of an earlier identity, whose agent may have run until the new credentials came.
 * Caveat: a Mac whose clock is behind keeps its token a little longer, but never beyond its expiration.
 */
export const shouldRetireToken = (lease: NodeLease | undefined, identity: CertificateIdentity | undefined): boolean =>
  lease !== undefined &&
  identity !== undefined &&
  lease.nodeName === identity.nodeName &&
  lease.renewedAt >= identity.issuedAt;

export interface JoinSnapshot {
  readonly now: number;
  /** Of the machine's record. `delivered` when the Mac's own stamp of its join credentials names it. */
  readonly token?: { readonly expiresAt: number; readonly delivered: boolean } | undefined;
  readonly nodeLease?: NodeLease | undefined;
  /** When the latest certificate known to us ends. */
  readonly certificateExpiresAt?: number | undefined;
  /** The Mac was installed anew since it joined, or never had anything of ours: no identity is left on it. */
  readonly freshHost: boolean;
}

export type JoinDecision =
  /** It has an identity, or can still have one. Whether it is up is another question. */
  | { readonly kind: 'joined' }
  /** It holds a token that it can still use. */
  | { readonly kind: 'joining' }
  /** A new token has to be minted and brought to it. */
  | { readonly kind: 'join'; readonly why: JoinReason };

type JoinReason = 'FreshHost' | 'NeverJoined' | 'TokenLost' | 'TokenExpired' | 'CertificateExpired';

const join = (why: JoinReason): JoinDecision => ({ kind: 'join', why });

/**
 * Whether a Mac needs new join credentials. A Mac that was off for weeks comes back with an expired certificate, which nobody can renew:
 * it joins again, as it did the first time.
 */
export const needsNewJoin = (snapshot: JoinSnapshot): JoinDecision => {
  const { now, token, nodeLease, freshHost } = snapshot;
  if (freshHost) return join('FreshHost');
  const tokenIsGood = token !== undefined && now < token.expiresAt;
  if (tokenIsGood && token.delivered) return { kind: 'joining' };
  if (nodeLease !== undefined && now < certificateEnd(snapshot, nodeLease)) return { kind: 'joined' };
  // Its secret half was known only to the process that minted it.
  if (tokenIsGood) return join('TokenLost');
  if (nodeLease !== undefined) return join('CertificateExpired');
  return join(token === undefined ? 'NeverJoined' : 'TokenExpired');
};

/** When nobody knows: no certificate outlives its last use by more than its whole life. */
const certificateEnd = ({ certificateExpiresAt }: JoinSnapshot, { renewedAt }: NodeLease): number =>
  certificateExpiresAt ?? renewedAt + certificateLifetimeSeconds * 1000;
