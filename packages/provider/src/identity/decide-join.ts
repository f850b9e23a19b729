import { X509Certificate } from 'node:crypto';
import type { CertificateRequest } from '../controller-deps.ts';
import { certificateLifetimeSeconds, kubeletClientSigner, nodeNameOf, tokenIDOf } from './names.ts';

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
}

type JoinReason = 'NeverJoined' | 'TokenLost' | 'TokenExpired' | 'CertificateExpired';

/**
 * Why a Mac needs new join credentials. Undefined: it has an identity, or a token that it can still use. A Mac that was off for weeks comes
 * back with an expired certificate, which nobody can renew: it joins again, as it did the first time.
 */
export const decideJoin = (snapshot: JoinSnapshot): JoinReason | undefined => {
  const { now, token, nodeLease } = snapshot;
  const tokenIsGood = token !== undefined && now < token.expiresAt;
  if (tokenIsGood && token.delivered) return undefined;
  if (nodeLease !== undefined && now < certificateEnd(snapshot, nodeLease)) return undefined;
  // Its secret half was known only to the process that minted it.
  if (tokenIsGood) return 'TokenLost';
  if (nodeLease !== undefined) return 'CertificateExpired';
  return token === undefined ? 'NeverJoined' : 'TokenExpired';
};

/** When nobody knows: no certificate outlives its last use by more than its whole life. */
const certificateEnd = ({ certificateExpiresAt }: JoinSnapshot, { renewedAt }: NodeLease): number =>
  certificateExpiresAt ?? renewedAt + certificateLifetimeSeconds * 1000;

/**
 * The latest certificate that was issued for this token, as its request tells. Kubernetes forgets requests within an hour of their
 * signature: whoever needs to know later writes it down.
 */
export const identityIssuedFor = (
  tokenID: string,
  requests: Iterable<CertificateRequest>,
): CertificateIdentity | undefined => {
  let latest: CertificateIdentity | undefined;
  for (const request of requests) {
    if (request.spec.signerName !== kubeletClientSigner || tokenIDOf(request.spec.username ?? '') !== tokenID) continue;
    const identity = identityIn(request);
    if (identity && (latest === undefined || identity.issuedAt > latest.issuedAt)) latest = identity;
  }
  return latest;
};

const identityIn = ({ status }: CertificateRequest): CertificateIdentity | undefined => {
  const approval = status?.conditions?.find(({ type }) => type === 'Approved');
  // The certificate's own beginning is set back by five minutes, for clocks that are behind.
  const issuedAt = Date.parse(approval?.lastTransitionTime ?? approval?.lastUpdateTime ?? '');
  const certificate = status?.certificate === undefined ? undefined : parseCertificate(status.certificate);
  const nodeName = nodeNameOf(/^CN=(.*)$/m.exec(certificate?.subject ?? '')?.[1] ?? '');
  if (certificate === undefined || nodeName === undefined || Number.isNaN(issuedAt)) return undefined;
  return { nodeName, issuedAt, expiresAt: certificate.validToDate.getTime() };
};

const parseCertificate = (base64: string): X509Certificate | undefined => {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
};
