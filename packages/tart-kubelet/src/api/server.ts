import { constants } from 'node:crypto';
import { createServer } from 'node:https';
import { listen, type Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { type AccessOptions, createAccess } from './access/access.ts';
import { answerProblem } from './answer.ts';
import { handleRequest, type RequestParts } from './handle-request.ts';
import { createUpgrades } from './handle-upgrade.ts';
import { type ApiLimits, usualLimits } from './limits.ts';
import type { PodRuntime } from './pod-runtime.ts';
import { ApiProblem, problemOf } from './problem.ts';
import type { ServingIdentity } from './serving-identity.ts';

export interface KubeletApiOptions extends Pick<RequestParts, 'metrics' | 'unhealthy'> {
  runtime: PodRuntime;
  reviews: AccessOptions['reviews'];
  nodeName: string;
  /** The node's address: nobody else's business. */
  host: string;
  /** 0 takes any free one; 10250 is where kubelets listen. */
  port: number;
  /** Whose client certificates are believed, as PEM: the cluster's client CA, which comes with the join credentials. */
  clientCA: string;
  identity: ServingIdentity;
  clock: Clock;
  log: Logger;
  limits?: Partial<ApiLimits>;
}

/** The API by which the API server reaches into Pods. */
export interface KubeletApi {
  /** Resolves when it listens. Stays pending when it cannot: `run` says why. */
  readonly address: Promise<{ host: string; port: number }>;
  /** From now on for new connections; those that are open keep what they have seen. */
  useIdentity(identity: ServingIdentity): void;
  /** Serves until `signal` fires; then sessions are ended. Rejects when it cannot listen. */
  run(signal: AbortSignal): Promise<void>;
}

const tlsOptions = (clientCA: string, { certificate, key }: ServingIdentity) => ({
  cert: certificate,
  key,
  ca: clientCA,
  minVersion: 'TLSv1.2' as const,
  // A resumed session would bring a client certificate that was checked some other time.
  secureOptions: constants.SSL_OP_NO_TICKET,
});

export const createKubeletApi = (options: KubeletApiOptions): KubeletApi => {
  const { runtime, reviews, nodeName, host, port, clientCA, clock, log, metrics, unhealthy } = options;
  const limits = { ...usualLimits, ...options.limits };
  const access = createAccess({ reviews, nodeName, clock, log });
  const address = Promise.withResolvers<{ host: string; port: number }>();
  const onError = (error: unknown): void => {
    if (error instanceof ApiProblem) log.debug('A request of the kubelet API was refused', { why: error.message });
    else log.error('A request of the kubelet API failed', { error });
  };
  const upgrade = createUpgrades({
    runtime,
    access,
    clock,
    maxSessions: limits.sessions,
    maxMessageBytes: limits.messageBytes,
    onError,
    watchSilence: ({ socket }) => {
      socket.removeAllListeners('timeout');
      socket.setTimeout(limits.silenceMs, () => void socket.destroy());
    },
  });
  const parts: RequestParts = { runtime, access, clock, metrics, unhealthy };

  const server = createServer(
    {
      ...tlsOptions(clientCA, options.identity),
      // Whoever comes with a token has no certificate: who it is, is looked at per request.
      requestCert: true,
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: limits.openingMs,
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.openingMs,
      requestTimeout: limits.openingMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: Math.min(1_000, limits.openingMs),
      // A client that is gone without a word is noticed by the system.
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      noDelay: true,
    },
    (incoming, response) => {
      incoming.resume();
      handleRequest(parts, incoming, response).catch((error: unknown) => {
        onError(error);
        answerProblem(response, problemOf(error));
      });
    },
  );
  server.maxConnections = limits.connections;
  server.setTimeout(limits.silenceMs, (socket) => void socket.destroy());
  server.on('upgrade', upgrade);
  const connections = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });

  return {
    address: address.promise,
    useIdentity: (identity) => server.setSecureContext(tlsOptions(clientCA, identity)),
    run: async (signal) => {
      if (signal.aborted) return;
      const bound = await listen(server, 'the kubelet API', host, port);
      log.info('The kubelet API listens', bound);
      address.resolve(bound);
      const broken = Promise.withResolvers<never>();
      const stopped = Promise.withResolvers<void>();
      const stop = (): void => stopped.resolve();
      server.on('error', broken.reject);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      try {
        await Promise.race([stopped.promise, broken.promise]);
      } finally {
        signal.removeEventListener('abort', stop);
        await new Promise<void>((resolve) => {
          // Sessions have no end of their own, and a connection that was upgraded is not the server's any more.
          const takeBack = clock.after(limits.closingMs, () => {
            for (const socket of connections) socket.destroy();
          });
          server.close(() => {
            takeBack();
            resolve();
          });
          server.closeIdleConnections();
        });
      }
    },
  };
};
