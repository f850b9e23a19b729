import { certificateSigningRequests, type Client } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { type NodeCertificate, parseNodeCertificate } from '../identity/node-certificate.ts';
import { type CertificateSubject, createCertificateRequest } from './x509.ts';

type Request = NonNullable<(typeof certificateSigningRequests)['ofType']>;

/** The request was denied or not decided. The message is the approver's: it contains machine names, no secrets. */
export class CertificateDenied extends Error {
  override readonly name = 'CertificateDenied';
}

/** The certificate in PEM. `undefined`: not decided yet. Throws CertificateDenied. */
const issuedCertificate = ({ status }: Request): string | undefined => {
  if (status?.certificate !== undefined) return Buffer.from(status.certificate, 'base64').toString();
  const conditions = status?.conditions ?? [];
  if (conditions.every(({ type }) => type === 'Approved')) return undefined;
  throw new CertificateDenied(
    conditions.map((one) => `${one.type} ${one.reason ?? ''}: ${one.message ?? ''}`).join(' '),
  );
};

/** Watches a request until it is decided. Rejects with CertificateDenied, or when `signal` fires. */
const waitForCertificate = async (client: Client, name: string, signal: AbortSignal): Promise<string> => {
  const selection = { fieldSelector: `metadata.name=${name}`, signal };
  for (;;) {
    const { items, resourceVersion } = await client.list(certificateSigningRequests, selection);
    const [request] = items;
    if (request === undefined) throw new CertificateDenied(`The certificate request ${name} is gone.`);
    const issued = issuedCertificate(request);
    if (issued !== undefined) return issued;
    for await (const event of client.watch(certificateSigningRequests, { ...selection, resourceVersion })) {
      if (event.type === 'DELETED') break;
      if (event.type === 'BOOKMARK') continue;
      const found = issuedCertificate(event.object);
      if (found !== undefined) return found;
    }
  }
};

/** The maximum that the provider approves. */
const lifetimeSeconds = 7 * 24 * 3600;

interface RequestOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly subject: CertificateSubject;
  readonly generateName: string;
  readonly signerName: string;
  /** Exactly these: the provider denies any other set. */
  readonly usages: ('client auth' | 'digital signature' | 'server auth')[];
  readonly timeoutMs: number;
}

/**
 * Requests a certificate for a new key and waits for the decision. Discards the key unless a certificate is issued. Rejects with
 * CertificateDenied, also without a decision in time, or with a KubeError.
 */
export const requestCertificate = async (options: RequestOptions): Promise<NodeCertificate> => {
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
    const issued = parseNodeCertificate(`${await waitForCertificate(client, metadata.name, signal)}\n${key}`);
    if (issued !== undefined) return issued;
    throw new CertificateDenied('What was issued is no certificate of the key that asked.');
  } catch (error) {
    if (options.signal.aborted || !timeout.signal.aborted) throw error;
    throw new CertificateDenied(`Nobody approved the request within ${timeoutMs / 60_000} min.`);
  } finally {
    cancelTimer();
  }
};
