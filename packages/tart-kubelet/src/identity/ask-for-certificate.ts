import { certificateSigningRequests, type Client } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { certificateWish } from './certificate-request.ts';
import { type NodeCertificate, nodeCertificateIn } from './node-certificate.ts';

type Request = NonNullable<(typeof certificateSigningRequests)['ofType']>;

/** The longest that the provider approves. */
const lifetimeSeconds = 7 * 24 * 3600;
/** A verdict comes within a second. A request that has none after this time is taken for lost, and another one is made. */
const verdictMs = 5 * 60_000;

/** No certificate this time. Says what the one who decided says, which names machines and nothing secret. */
class NoCertificate extends Error {
  override readonly name = 'NoCertificate';
}

const hasVerdict = ({ status }: Request): boolean =>
  status?.certificate !== undefined || (status?.conditions ?? []).some(({ type }) => type !== 'Approved');

const verdictOn = async (client: Client, name: string, signal: AbortSignal): Promise<Request> => {
  const selection = { fieldSelector: `metadata.name=${name}`, signal };
  for (;;) {
    const { items, resourceVersion } = await client.list(certificateSigningRequests, selection);
    const [request] = items;
    if (request === undefined) throw new NoCertificate(`The certificate request ${name} is gone.`);
    if (hasVerdict(request)) return request;
    for await (const event of client.watch(certificateSigningRequests, { ...selection, resourceVersion })) {
      if (event.type === 'DELETED') break;
      if (event.type !== 'BOOKMARK' && hasVerdict(event.object)) return event.object;
    }
  }
};

const until = (clock: Clock, milliseconds: number, signal: AbortSignal): { signal: AbortSignal; end: () => void } => {
  const tooLate = new AbortController();
  const end = clock.after(milliseconds, () => tooLate.abort());
  return { signal: AbortSignal.any([signal, tooLate.signal]), end };
};

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
  const { key, request } = certificateWish(nodeName);
  const wait = until(clock, verdictMs, signal);
  try {
    const { metadata } = await client.create(
      certificateSigningRequests,
      {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { generateName: 'node-csr-' },
        spec: {
          request,
          signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
          // Exactly these: the provider denies a request that wants less or more.
          usages: ['client auth', 'digital signature'],
          expirationSeconds: lifetimeSeconds,
        },
      },
      { signal: wait.signal },
    );
    const { status } = await verdictOn(client, metadata.name, wait.signal);
    const why = (status?.conditions ?? []).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
    if (status?.certificate === undefined) throw new NoCertificate(why.join(' '));
    const certificate = nodeCertificateIn(`${Buffer.from(status.certificate, 'base64').toString()}\n${key}`);
    if (certificate === undefined) throw new NoCertificate('What was issued is no certificate of the key that asked.');
    return certificate;
  } finally {
    wait.end();
  }
};
