import { again, isKubeError, type Live, type Logger, type Outcome, settled, type Subresources } from '@tartan/kube';
import type { CertificateRequest } from '../issued-identity.ts';

/** What can be done about a request, whoever decided it and for whatever reason. */
type Verdict =
  | { readonly kind: 'leave' }
  /** What it needs may still come. */
  | { readonly kind: 'wait'; readonly forMs: number }
  | { readonly kind: 'approve' | 'deny'; readonly reason: string; readonly message: string };

export interface ActOptions {
  readonly subresources: Pick<Subresources, 'approveCertificate'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Writes the verdict into the request as it was read. Safe to repeat: a verdict that is there makes the next decision `leave`. Whoever
 * lost a race to another writer has nothing to do: that write brings the request back.
 */
export const act = async (
  request: Live<CertificateRequest>,
  decision: Verdict,
  { subresources, log, signal }: ActOptions,
): Promise<Outcome> => {
  if (decision.kind === 'leave') return settled;
  if (decision.kind === 'wait') return again(decision.forMs);
  const { reason, message } = decision;
  const type = decision.kind === 'approve' ? 'Approved' : 'Denied';
  try {
    await subresources.approveCertificate(request, { type, reason, message }, { signal });
  } catch (error) {
    if (isKubeError(error, 'conflict', 'notFound')) return settled;
    throw error;
  }
  const { signerName: signer, username: requester } = request.spec;
  const fields = { request: request.metadata.name, requester, signer, reason };
  if (decision.kind === 'approve') log.info('A certificate request is approved', fields);
  else log.warn('A certificate request is denied', fields);
  return settled;
};
