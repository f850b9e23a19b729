import { certificateSigningRequests, type Client } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { awaitVerdict } from '../certificates/await-verdict.ts';
import { makeRequest } from '../certificates/certificate-request.ts';
import { untilAfter } from '../certificates/until-after.ts';
import { type NodeCertificate, nodeCertificateIn } from './node-certificate.ts';

/** The longest that the provider approves. */
const lifetimeSeconds = 7 * 24 * 3600;
/** A verdict comes within a second. A request that has none after this time is taken for lost, and another one is made. */
const verdictMs = 5 * 60_000;

/** No certificate this time. Says what the one who decided says, which names machines and nothing secret. */
class NoCertificate extends Error {
  override readonly name = 'NoCertificate';
}

/**
 * Asks for a client certificate of this Node and waits for the verdict. Needs what `system:node-bootstrapper` may, no more. The key is
 * made here and forgotten when there is no certificate: whoever asks again asks for another key.
 */
export const askForCertificate = async (
  client: Client,
  nodeName: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<NodeCertificate> => {
  const { key, request } = makeRequest({ nodeName });
  const wait = untilAfter(clock, verdictMs, signal);
  try {
    const { metadata } = await client.create(
      certificateSigningRequests,
      {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { generateName: 'node-csr-' },
        spec: {
          request: Buffer.from(request).toString('base64'),
          signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
          // Exactly these: the provider denies a request that wants less or more.
          usages: ['client auth', 'digital signature'],
          expirationSeconds: lifetimeSeconds,
        },
      },
      { signal: wait.signal },
    );
    const verdict = await awaitVerdict(client, metadata.name, wait.signal);
    if (verdict.kind === 'refused') throw new NoCertificate(verdict.message);
    const certificate = nodeCertificateIn(`${verdict.certificate}\n${key}`);
    if (certificate === undefined) throw new NoCertificate('What was issued is no certificate of the key that asked.');
    return certificate;
  } finally {
    wait.end();
  }
};
