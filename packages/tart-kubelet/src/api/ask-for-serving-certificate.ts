import { certificateSigningRequests, type Client, type Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { awaitVerdict } from '../certificates/await-verdict.ts';
import { makeRequest } from '../certificates/certificate-request.ts';
import type { CertificateSubject } from '../certificates/subject.ts';
import { untilAfter } from '../certificates/until-after.ts';
import { certificateOf, type ServingIdentity, speaksFor } from './serving-identity.ts';

export const servingSigner = 'kubernetes.io/kubelet-serving';
const usages: ('digital signature' | 'server auth')[] = ['digital signature', 'server auth'];
/** The provider approves no longer one: an address may be another Mac's later. */
const expirationSeconds = 7 * 24 * 3600;
/** Asked for anew when nobody has decided for so long. Requests that wait are swept by Kubernetes after a day. */
const patienceMs = 15 * 60_000;

export interface AskOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** One request. `undefined`, and a line in the log, when it was refused or nobody decided. Rejects when the server does not answer. */
export const askForServingCertificate = async (
  subject: CertificateSubject,
  { client, clock, log, signal }: AskOptions,
): Promise<ServingIdentity | undefined> => {
  const { request, key } = makeRequest(subject);
  const { metadata } = await client.create(
    certificateSigningRequests,
    {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { generateName: `kubelet-serving-${subject.nodeName}-` },
      spec: {
        signerName: servingSigner,
        usages,
        expirationSeconds,
        request: Buffer.from(request).toString('base64'),
      },
    },
    { signal },
  );
  const { name } = metadata;
  const wait = untilAfter(clock, patienceMs, signal);
  try {
    const verdict = await awaitVerdict(client, name, wait.signal);
    if (verdict.kind === 'refused') {
      log.warn('The request for a serving certificate was refused', { name, why: verdict.message });
      return undefined;
    }
    const identity = { certificate: verdict.certificate, key };
    const certificate = certificateOf(identity);
    if (certificate && speaksFor(certificate, subject)) return identity;
    log.warn('The serving certificate that was issued is not what was asked for', { name });
    return undefined;
  } catch (error) {
    if (signal.aborted || !wait.signal.aborted) throw error;
    log.warn('Nobody approved the request for a serving certificate', { name, signer: servingSigner });
    return undefined;
  } finally {
    wait.end();
  }
};
