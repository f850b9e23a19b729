import { X509Certificate } from 'node:crypto';
import type { CertificateRequest } from '../controller-deps.ts';
import { certificateLifetimeSeconds, kubeletClientSigner, nodeNameOf, tokenIDOf } from './names.ts';

/** The Lease of a Node in `kube-node-lease`. */
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
 * A token is used up when the identity issued for it renews its Lease, which only that identity may (Node authorizer). A renewal from
 * before the certificate is by an earlier identity, whose agent may have run until the new credentials came.
 * Caveat: a Mac whose clock is behind keeps its token a little longer, but never beyond its expiration.
 */
export const shouldRetireToken = (lease: NodeLease | undefined, identity: CertificateIdentity | undefined): boolean =>
  lease !== undefined &&
  identity !== undefined &&
  lease.nodeName === identity.nodeName &&
  lease.renewedAt >= identity.issuedAt;

export interface JoinSnapshot {
  readonly now: number;
  /** From the machine's status. `delivered`: the Mac's stamp of its join credentials names the token. */
  readonly token?: { readonly expiresAt: number; readonly delivered: boolean } | undefined;
  readonly nodeLease?: NodeLease | undefined;
  /** When the latest known certificate expires. */
  readonly certificateExpiresAt?: number | undefined;
}

type JoinReason = 'NeverJoined' | 'TokenLost' | 'TokenExpired' | 'CertificateExpired';

/**
 * Why a Mac needs new join credentials. Undefined: it has an identity, or a token that it can still use. A Mac that was off for weeks has
 * an expired certificate, which cannot be renewed: it joins again as at first.
 */
export const decideJoin = (snapshot: JoinSnapshot): JoinReason | undefined => {
  const { now, token, nodeLease } = snapshot;
  const tokenIsGood = token !== undefined && now < token.expiresAt;
  if (tokenIsGood && token.delivered) return undefined;
  if (nodeLease !== undefined && now < certificateEnd(snapshot, nodeLease)) return undefined;
  // Only the process that minted it knew its secret half.
  if (tokenIsGood) return 'TokenLost';
  if (nodeLease !== undefined) return 'CertificateExpired';
  return token === undefined ? 'NeverJoined' : 'TokenExpired';
};

/** If unknown: a certificate outlives its last use by at most its whole lifetime. */
const certificateEnd = ({ certificateExpiresAt }: JoinSnapshot, { renewedAt }: NodeLease): number =>
  certificateExpiresAt ?? renewedAt + certificateLifetimeSeconds * 1000;

/**
 * The latest certificate that was issued for this token, from its request. Kubernetes deletes requests within an hour of the signature, so
 * the result has to be stored.
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
  // The certificate's notBefore is set back by five minutes, for clocks that are behind.
  const issuedAt = Date.parse(approval?.lastTransitionTime ?? approval?.lastUpdateTime ?? '');
  const certificate = parseCertificate(status?.certificate ?? '');
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
