import type { Clock } from '../clock/clock.ts';
import { KubeError } from '../errors/kube-error.ts';

/** Who we are. */
export interface Credentials {
  /** Names in lower case: `authorization`. */
  headers?: Readonly<Record<string, string>>;
  /** PEM. */
  certificate?: { cert: string; key: string };
}

export interface HttpsTransportOptions {
  /** `https://host:port`, possibly with a path under which the API is served. */
  server: string;
  /** PEM. The authorities that this machine trusts anyway unless given. */
  ca?: string;
  insecureSkipTlsVerify?: boolean;
  /** The name to expect in the server's certificate, when it is not the host of `server`. */
  serverName?: string;
  /** Asked before every request: a token that has been read again or a renewed certificate takes effect with the next one. */
  credentials: () => Promise<Credentials> | Credentials;
  /** Told when the server has answered 401 to these credentials. The request is not sent again. */
  refresh?: (rejected: Credentials) => void;
  clock: Clock;
  /** Time for TCP and TLS together. 10 s unless told. */
  connectTimeoutMs?: number;
  /** Connections at a time; a request above that waits, by its deadline. A watch holds one while it runs. No limit unless told. */
  maxSockets?: number;
}

export interface Endpoint {
  host: string;
  port: number;
  /** `host:port`, for texts. */
  address: string;
  /** Without a slash at its end. */
  basePath: string;
}

export const endpointOf = (server: string): Endpoint => {
  const url = URL.parse(server);
  if (url?.protocol !== 'https:') {
    throw new KubeError('badRequest', 'The address of the Kubernetes API must be an https:// URL');
  }
  const port = url.port === '' ? 443 : Number(url.port);
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    address: `${url.hostname}:${port}`,
    basePath: url.pathname.replace(/\/+$/, ''),
  };
};
