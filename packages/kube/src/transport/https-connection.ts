import type { ClientRequest } from 'node:http';
import { Agent } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Clock } from '../clock/clock.ts';
import { KubeError } from '../errors/kube-error.ts';

/** Credentials of a request. */
export interface Credentials {
  /** Names in lower case: `authorization`. */
  headers?: Readonly<Record<string, string>>;
  /** PEM. */
  certificate?: { cert: string; key: string };
}

export interface HttpsTransportOptions {
  /** `https://host:port`, possibly with a base path. */
  server: string;
  /** PEM. By default the system's trusted authorities. */
  ca?: string | undefined;
  insecureSkipTlsVerify?: boolean | undefined;
  /** The name expected in the server's certificate, if it is not the host of `server`. */
  serverName?: string | undefined;
  /** Called before every request, so that a reread token or a renewed certificate takes effect immediately. */
  credentials: () => Promise<Credentials> | Credentials;
  /** Called when the server responds 401 to these credentials. The request is not retried. */
  refresh?: (rejected: Credentials) => void;
  clock: Clock;
  /** Time for TCP and TLS together. 10 s by default. */
  connectTimeoutMs?: number;
  /** Maximum number of connections; further requests wait, within their deadline. A watch holds one while it runs. No limit by default. */
  maxSockets?: number;
}

export interface Endpoint {
  host: string;
  port: number;
  /** `host:port`, for messages. */
  address: string;
  /** Without a trailing slash. */
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

/** API servers close idle connections after 90 s or more. Closing first avoids writing to a connection that is being closed. */
const idleMs = 60_000;

/** TLS options, for HTTPS and WebSockets. */
const tlsOptions = (
  { ca, serverName, insecureSkipTlsVerify }: HttpsTransportOptions,
  certificate: Credentials['certificate'],
): { secureContext: SecureContext; servername: string | undefined; rejectUnauthorized: boolean } => ({
  rejectUnauthorized: insecureSkipTlsVerify !== true,
  // Created once for all connections: given certificates and keys as text, Node would create one per connection.
  secureContext: createSecureContext({
    ca,
    cert: certificate?.cert,
    key: certificate?.key,
  }),
  servername: serverName,
});

interface AgentPool {
  /** The pool of connections with this client certificate. */
  agentFor(certificate: Credentials['certificate']): DrainingAgent;
  close(): void;
}

/** One pool at a time. A connection presents its certificate in the handshake, so a new certificate needs new connections. */
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
        // Node closes idle connections after this time, not active ones.
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

/** Keeps connections alive until `drain`. */
export class DrainingAgent extends Agent {
  #draining = false;

  /** Closes idle connections. */
  closeIdle(): void {
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  /** Lets running requests finish, then closes their connections. */
  drain(): void {
    this.#draining = true;
    this.closeIdle();
  }

  /** Node calls this for every connection that becomes idle, and closes it unless it returns true. Node's types omit that. */
  override keepSocketAlive(socket: Duplex): boolean {
    if (this.#draining) return false;
    super.keepSocketAlive(socket);
    return true;
  }
}

/** Idle time before the kernel sends TCP keepalive probes. */
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

/** Aborts a request that gets no connection in time. Enables TCP keepalive on new connections, so that dead ones are detected. */
export const applyConnectTimeout = (request: ClientRequest, address: string, clock: Clock, limitMs: number): void => {
  request.once('socket', (socket: Socket) => {
    if (request.reusedSocket) return;
    socket.setKeepAlive(true, keepAliveDelayMs);
    startTimer(request, socket, address, clock, limitMs);
  });
};
