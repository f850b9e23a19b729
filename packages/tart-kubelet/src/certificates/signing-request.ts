import { certificateSigningRequests, type Client } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { type CertificateSubject, createCertificateRequest } from './x509.ts';

type Request = NonNullable<(typeof certificateSigningRequests)['ofType']>;

/** What became of a request. The message is of whoever denied it: it names machines and nothing secret. */
type SigningResult =
  | { readonly kind: 'issued'; readonly certificate: string }
  | { readonly kind: 'denied'; readonly message: string };

const signingResultOf = ({ status }: Request): SigningResult | undefined => {
  if (status?.certificate !== undefined)
    return { kind: 'issued', certificate: Buffer.from(status.certificate, 'base64').toString() };
  const conditions = status?.conditions ?? [];
  if (conditions.every(({ type }) => type === 'Approved')) return undefined;
  const message = conditions.map((one) => `${one.type} ${one.reason ?? ''}: ${one.message ?? ''}`).join(' ');
  return { kind: 'denied', message };
};

/** Watches a request until it is decided. Rejects when `signal` fires. */
const waitForCertificate = async (client: Client, name: string, signal: AbortSignal): Promise<SigningResult> => {
  const selection = { fieldSelector: `metadata.name=${name}`, signal };
  for (;;) {
    const { items, resourceVersion } = await client.list(certificateSigningRequests, selection);
    const [request] = items;
    if (request === undefined) return { kind: 'denied', message: `The certificate request ${name} is gone.` };
    const result = signingResultOf(request);
    if (result !== undefined) return result;
    for await (const event of client.watch(certificateSigningRequests, { ...selection, resourceVersion })) {
      if (event.type === 'DELETED') break;
      if (event.type === 'BOOKMARK') continue;
      const found = signingResultOf(event.object);
      if (found !== undefined) return found;
    }
  }
};

/** The longest that the provider approves. */
const lifetimeSeconds = 7 * 24 * 3600;

interface RequestOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly subject: CertificateSubject;
  readonly generateName: string;
  readonly signerName: string;
  /** Exactly these: the provider denies a request that wants less or more. */
  readonly usages: ('client auth' | 'digital signature' | 'server auth')[];
  readonly timeoutMs: number;
}

/**
 * Requests a certificate for a new key and waits for the decision. No decision in time counts as denied. The key is forgotten unless a
 * certificate is issued. Rejects when the API server does not answer.
 */
export const requestCertificate = async (
  options: RequestOptions,
): Promise<SigningResult & { readonly key: string }> => {
  const { client, clock, subject, generateName, signerName, usages, timeoutMs } = options;
  const { key, request } = createCertificateRequest(subject);
  const timeout = new AbortController();
  const cancelTimer = clock.after(timeoutMs, () => timeout.abort());
  const signal = AbortSignal.any([options.signal, timeout.signal]);
  try {
    const { metadata } = await client.create(
      certificateSigningRequests,
      {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { generateName },
        spec: {
          request: Buffer.from(request).toString('base64'),
          signerName,
          usages,
          expirationSeconds: lifetimeSeconds,
        },
      },
      { signal },
    );
    return { ...(await waitForCertificate(client, metadata.name, signal)), key };
  } catch (error) {
    if (options.signal.aborted || !timeout.signal.aborted) throw error;
    return { kind: 'denied', message: `Nobody approved the request within ${timeoutMs / 60_000} min.`, key };
  } finally {
    cancelTimer();
  }
};
