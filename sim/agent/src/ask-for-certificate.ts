import { certificateSigningRequests, type Client } from '@tartan/kube';
import { certificateWish } from './certificate-request.ts';

type Request = NonNullable<(typeof certificateSigningRequests)['ofType']>;

export interface ClientCertificate {
  /** PEM, both. */
  readonly cert: string;
  readonly key: string;
}

const weekSeconds = 7 * 24 * 3600;

const isOver = ({ status }: Request): boolean =>
  status?.certificate !== undefined || (status?.conditions ?? []).some(({ type }) => type !== 'Approved');

/** Asks for a client certificate of this Node and waits for the verdict, with no more rights than `system:node-bootstrapper` has. */
export const askForCertificate = async (
  client: Client,
  nodeName: string,
  signal: AbortSignal,
): Promise<ClientCertificate> => {
  const { key, request } = certificateWish(nodeName);
  const { metadata } = await client.create(
    certificateSigningRequests,
    {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { generateName: 'node-csr-' },
      spec: {
        request,
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['client auth', 'digital signature'],
        expirationSeconds: weekSeconds,
      },
    },
    { signal },
  );
  const { status } = await verdictOn(client, metadata.name, signal);
  if (status?.certificate !== undefined) return { key, cert: Buffer.from(status.certificate, 'base64').toString() };
  const why = (status?.conditions ?? []).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  throw new Error(`no certificate for the Node ${nodeName}: ${why.join(', ')}`);
};

const verdictOn = async (client: Client, name: string, signal: AbortSignal): Promise<Request> => {
  const selection = { fieldSelector: `metadata.name=${name}`, signal };
  for (;;) {
    const { items, resourceVersion } = await client.list(certificateSigningRequests, selection);
    const found = items.find(isOver);
    if (found) return found;
    if (items.length === 0) throw new Error(`the certificate request ${name} is gone`);
    for await (const event of client.watch(certificateSigningRequests, { ...selection, resourceVersion })) {
      if (event.type === 'MODIFIED' && isOver(event.object)) return event.object;
      if (event.type === 'DELETED') break;
    }
    signal.throwIfAborted();
  }
};
