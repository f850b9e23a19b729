import type { IncomingMessage } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import type { Identity } from '../auth/identity.ts';

export interface KubeletResponse {
  code: number;
  /** Whatever it sends, as it comes. Leaving the loop closes the connection. */
  chunks: AsyncIterable<Uint8Array>;
}

/** GET from a kubelet. Rejects when it cannot be reached; `signal` ends the request at any time. */
export type Connect = (url: string, signal: AbortSignal) => Promise<KubeletResponse>;

/** How a kubelet is spoken to. */
export type KubeletOptions = () => Promise<RequestOptions>;

const tenYears = 10 * 365 * 24 * 3600;

/**
 * The certificate by which kubelets know the API server, made when first needed. Their own certificates are not checked, as the
 * real server does not without `--kubelet-certificate-authority`: a kubelet may serve with one that it signed itself.
 */
export const kubeletOptions = (identity: Identity): KubeletOptions => {
  let issued: Promise<RequestOptions> | undefined;
  const issue = async (): Promise<RequestOptions> => {
    const { certificate, key } = await identity.issue({
      commonName: 'kube-apiserver-kubelet-client',
      organizations: ['system:masters'],
      usages: ['client auth', 'digital signature'],
      seconds: tenYears,
    });
    return { cert: certificate, key, rejectUnauthorized: false, agent: false };
  };
  return () => (issued ??= issue());
};

const dialTimeout = 5000;

/** Ends an attempt that gets no connection, as a host does that swallows packets. */
export const limitDial = (outgoing: ReturnType<typeof request>, milliseconds = dialTimeout): void => {
  outgoing.once('socket', (socket) => {
    const expire = (): void => void outgoing.destroy(Object.assign(new Error('i/o timeout'), { code: 'ETIMEDOUT' }));
    const timer = setTimeout(expire, milliseconds);
    for (const event of ['secureConnect', 'close']) socket.once(event, () => clearTimeout(timer));
  });
};

export const connectWith =
  (options: KubeletOptions): Connect =>
  async (url, signal) => {
    const credentials = await options();
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request(url, { ...credentials, signal }, resolve);
      limitDial(outgoing);
      outgoing.once('error', reject);
      outgoing.end();
    });
    return { code: response.statusCode ?? 0, chunks: response };
  };
