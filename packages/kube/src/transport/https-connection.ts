import type { ClientRequest } from 'node:http';
import { Agent } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext } from 'node:tls';
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
  ca?: string | undefined;
  insecureSkipTlsVerify?: boolean | undefined;
  /** The name to expect in the server's certificate, when it is not the host of `server`. */
  serverName?: string | undefined;
  /** Asked before every request: a token that has been read again or a renewed certificate takes effect with the next one. */
  credentials: () => Promise<Credentials> | Credentials;
  /** Told when the server has answered 401 to these credentials. The request is not sent again. */
  refresh?: (rejected: Credentials) => void;
  clock: Clock;
  /** Time for TCP and TLS together. 10 s by default. */
  connectTimeoutMs?: number;
  /** Connections at a time; a request above that waits, by its deadline. A watch holds one while it runs. No limit by default. */
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

/** The real server closes an idle connection after 90 s or more. Being first avoids writing into one that it is just closing. */
const idleMs = 60_000;

/** What TLS needs to know, for HTTPS and for WebSockets alike. */
const tlsOptions = (
  { ca, serverName, insecureSkipTlsVerify }: HttpsTransportOptions,
  certificate: Credentials['certificate'],
): { secureContext: SecureContext; servername: string | undefined; rejectUnauthorized: boolean } => ({
  rejectUnauthorized: insecureSkipTlsVerify !== true,
  // Made once for all connections: from certificates and keys as text, Node would make one for each.
  secureContext: createSecureContext({
    ca,
    cert: certificate?.cert,
    key: certificate?.key,
  }),
  servername: serverName,
});

interface AgentPool {
  /** The pool of connections that show this certificate. */
  agentFor(certificate: Credentials['certificate']): DrainingAgent;
  close(): void;
}

/** One pool at a time: a certificate is shown when a connection opens, so another certificate needs other connections. */
export const createAgentPool = (options: HttpsTransportOptions): AgentPool => {
  let current: { agent: DrainingAgent; certificate: Credentials['certificate'] } | undefined;
  const isCurrent = (certificate: Credentials['certificate']): boolean =>
    current?.certificate?.cert === certificate?.cert && current?.certificate?.key === certificate?.key;
  return {
    agentFor: (certificate) => {
      if (current && isCurrent(certificate)) return current.agent;
      current?.agent.drain();
      const agent = new DrainingAgent({
        ...tlsOptions(options, certificate),
        keepAlive: true,
        // Node closes a free connection after that time, and leaves one in use alone.
        timeout: idleMs,
        maxSockets: options.maxSockets,
      });
      current = { agent, certificate };
      return agent;
    },
    close: () => {
      current?.agent.drain();
      current = undefined;
    },
  };
};

/** Keeps connections open for the next request, until told to let go of them. */
export class DrainingAgent extends Agent {
  #draining = false;

  /** Closes the connections that nobody uses now. */
  closeIdle(): void {
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  /** Requests under way go on, and their connections close behind them. */
  drain(): void {
    this.#draining = true;
    this.closeIdle();
  }

  /** Node asks this of every connection that becomes free, and closes it unless the answer is true. Its types do not say so. */
  override keepSocketAlive(socket: Duplex): boolean {
    if (this.#draining) return false;
    super.keepSocketAlive(socket);
    return true;
  }
}

/** How long a connection may be silent before the kernel asks whether the other side is still there. */
const keepAliveDelayMs = 15_000;

const startTimer = (request: ClientRequest, socket: Socket, address: string, clock: Clock, limitMs: number): void => {
  const expire = (): void => {
    const text = `Cannot reach the Kubernetes API at ${address}: no connection within ${limitMs / 1000} s. `;
    request.destroy(new KubeError('timeout', `${text}Check the address, routes and firewalls`));
  };
  const stop = clock.after(limitMs, expire);
  socket.once('secureConnect', stop);
  socket.once('close', stop);
};

/** Ends a request that gets no connection; and has every new connection watched by TCP keepalive, so that a dead one is noticed. */
export const applyConnectTimeout = (request: ClientRequest, address: string, clock: Clock, limitMs: number): void => {
  request.once('socket', (socket: Socket) => {
    if (request.reusedSocket) return;
    socket.setKeepAlive(true, keepAliveDelayMs);
    startTimer(request, socket, address, clock, limitMs);
  });
};
