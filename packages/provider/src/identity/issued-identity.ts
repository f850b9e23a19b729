import { X509Certificate } from 'node:crypto';
import type { certificateSigningRequests } from '@tartan/kube';
import type { CertificateIdentity } from './join-decisions.ts';
import { kubeletClientSigner, nodeNameOf, tokenIDOf } from './names.ts';

export type CertificateRequest = NonNullable<(typeof certificateSigningRequests)['ofType']>;

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
  const certificate = status?.certificate === undefined ? undefined : parsed(status.certificate);
  const nodeName = nodeNameOf(/^CN=(.*)$/m.exec(certificate?.subject ?? '')?.[1] ?? '');
  if (certificate === undefined || nodeName === undefined || Number.isNaN(issuedAt)) return undefined;
  return { nodeName, issuedAt, expiresAt: certificate.validToDate.getTime() };
};

const parsed = (base64: string): X509Certificate | undefined => {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
};
