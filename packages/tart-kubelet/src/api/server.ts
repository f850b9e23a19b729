import { constants } from 'node:crypto';
import { createServer } from 'node:https';
import { listen, type Logger, untilAborted } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { createRequestAuth, type RequestAuthOptions } from './auth/auth.ts';
import { handleRequest, type RequestDeps } from './handle-request.ts';
import { HttpError, sendError, toHttpError } from './http-response.ts';
import type { PodRuntime } from './pod-runtime.ts';
import type { NodeCertificate } from '../identity/node-certificate.ts';
import { createUpgradeHandler } from './streaming/handle-upgrade.ts';

/** Clients are the API server, a few scrapers and kubectl users. Excess and slow connections are closed. */
const defaultLimits = {
  /** Concurrent connections, and how many of them may be exec, attach or port-forward. */
  connections: 256,
  sessions: 128,
  headerBytes: 32 * 1024,
  /** Limit for a WebSocket message. kubectl sends at most 32,769 bytes. */
  messageBytes: 1024 * 1024,
  /** For the handshake, and for the headers of a request. */
  openingMs: 10_000,
  /** Between two requests on a connection. */
  keepAliveMs: 90_000,
  /** Without traffic in either direction. Long, as in the kubelet: `logs -f` of a quiet VM is legitimate. */
  idleMs: 4 * 60 * 60 * 1000,
  /** How long open requests may take after the stop. */
  closingMs: 1_000,
};
export type ApiLimits = Readonly<typeof defaultLimits>;

type KeyPair = Pick<NodeCertificate, 'cert' | 'key'>;

export interface KubeletApiOptions extends Pick<RequestDeps, 'metrics'> {
  runtime: PodRuntime;
  reviews: RequestAuthOptions['reviews'];
  nodeName: string;
  /** Listens only on the Node's address. */
  host: string;
  /** 0: any free port; kubelets use 10250. */
  port: number;
  /** CA for client certificates, as PEM: the cluster's client CA from the join credentials. */
  clientCA: string;
  keyPair: KeyPair;
  clock: Clock;
  log: Logger;
  limits?: Partial<ApiLimits>;
}

const tlsOptions = (clientCA: string, { cert, key }: KeyPair) => ({
  cert,
  key,
  ca: clientCA,
  minVersion: 'TLSv1.2' as const,
  // Session resumption would skip the check of the client certificate.
  secureOptions: constants.SSL_OP_NO_TICKET,
});

/** The kubelet API, by which the API server accesses Pods. */
export const createKubeletApi = (options: KubeletApiOptions) => {
  const { runtime, reviews, nodeName, host, port, clientCA, clock, log, metrics } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const auth = createRequestAuth({ reviews, nodeName, clock, log });
  const address = Promise.withResolvers<{ host: string; port: number }>();
  const onError = (error: unknown): void => {
    if (error instanceof HttpError) log.debug('A request of the kubelet API was refused', { why: error.message });
    else log.error('A request of the kubelet API failed', { error });
  };
  const upgrade = createUpgradeHandler({
    runtime,
    auth,
    clock,
    maxSessions: limits.sessions,
    maxMessageBytes: limits.messageBytes,
    onError,
    closeWhenIdle: ({ socket }) => {
      socket.removeAllListeners('timeout');
      socket.setTimeout(limits.idleMs, () => void socket.destroy());
    },
  });
  const deps: RequestDeps = { runtime, auth, clock, metrics };

  const server = createServer(
    {
      ...tlsOptions(clientCA, options.keyPair),
      // Clients with a token have no certificate: each request is authenticated separately.
      requestCert: true,
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: limits.openingMs,
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.openingMs,
      requestTimeout: limits.openingMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: Math.min(1_000, limits.openingMs),
      // TCP keepalive detects dead clients.
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      noDelay: true,
    },
    (incoming, response) => {
      incoming.resume();
      handleRequest(deps, incoming, response).catch((error: unknown) => {
        onError(error);
        sendError(response, toHttpError(error));
      });
    },
  );
  server.maxConnections = limits.connections;
  server.setTimeout(limits.idleMs, (socket) => void socket.destroy());
  server.on('upgrade', upgrade);
  const connections = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });

  return {
    /** Resolves when it listens. Stays pending if it cannot: then `run` rejects. */
    address: address.promise,
    /** Applies to new connections only. */
    setKeyPair: (keyPair: KeyPair) => server.setSecureContext(tlsOptions(clientCA, keyPair)),
    /** Serves until `signal` fires, then ends all sessions. Rejects when it cannot listen. */
    run: async (signal: AbortSignal) => {
      if (signal.aborted) return;
      const bound = await listen(server, 'the kubelet API', host, port);
      log.info('The kubelet API listens', bound);
      address.resolve(bound);
      const serverFailed = Promise.withResolvers<never>();
      server.on('error', serverFailed.reject);
      try {
        await Promise.race([untilAborted(signal), serverFailed.promise]);
      } finally {
        await new Promise<void>((resolve) => {
          // Sessions have no time limit, and the server does not track upgraded connections.
          const cancelTimer = clock.after(limits.closingMs, () => {
            for (const socket of connections) socket.destroy();
          });
          server.close(() => {
            cancelTimer();
            resolve();
          });
          server.closeIdleConnections();
        });
      }
    },
  };
};

export type KubeletApi = ReturnType<typeof createKubeletApi>;
