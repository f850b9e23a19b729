import type { IncomingMessage } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import { systemClock } from '@tartan/kube/clock';
import type { ClusterPki } from '../pki/pki.ts';

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ECONNRESET: 'connect: connection reset by peer',
  ETIMEDOUT: 'i/o timeout',
};

/** Why a kubelet could not be reached, in the words of Go's network stack, as the real server reports it. */
export const dialError = (error: unknown, url: string): string => {
  if (!URL.canParse(url)) return `invalid URL ${JSON.stringify(url)}`;
  const { host, hostname, port } = new URL(url);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `dial tcp: lookup ${hostname}: no such host`;
  const reason = reasons[code];
  if (reason !== undefined) return `dial tcp ${port === '' ? `${host}:443` : host}: ${reason}`;
  return error instanceof Error ? error.message : 'EOF';
};

export interface KubeletResponse {
  code: number;
  /** The body, as it arrives. Leaving the loop closes the connection. */
  chunks: AsyncIterable<Uint8Array>;
}

/** GET from a kubelet. Rejects when it cannot be reached; `signal` aborts the request. */
export type Connect = (url: string, signal: AbortSignal) => Promise<KubeletResponse>;

/** TLS options for connections to kubelets. */
export type KubeletOptions = () => Promise<RequestOptions>;

const tenYears = 10 * 365 * 24 * 3600;

/**
 * The client certificate of the API server, issued on first use. Certificates of kubelets are not verified, like in a real server without
 * `--kubelet-certificate-authority`: a kubelet may have a self-signed one.
 */
export const kubeletOptions = (identity: ClusterPki): KubeletOptions => {
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

/** Limits the time to connect, for hosts that drop packets. */
export const limitDial = (outgoing: ReturnType<typeof request>, milliseconds = dialTimeout): void => {
  outgoing.once('socket', (socket) => {
    const expire = (): void => void outgoing.destroy(Object.assign(new Error('i/o timeout'), { code: 'ETIMEDOUT' }));
    const cancelTimer = systemClock.after(milliseconds, expire);
    for (const event of ['secureConnect', 'close']) socket.once(event, cancelTimer);
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
