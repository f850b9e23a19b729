import { createServer, type RequestListener, type Server } from 'node:http';
import type { Clock } from '../clock/clock.ts';
import type { ManagerResult } from '../controller/manager.ts';
import { untilAborted } from '../errors/abort-signal.ts';
import { errorMessage } from '../errors/kube-error.ts';
import type { BindAddress } from '../flags/network-types.ts';
import type { Logger } from '../logs/logger.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { handleProbe, type HealthChecks } from './healthz.ts';
import { listen } from './listen.ts';

export interface HealthServerOptions {
  /** Loopback by default. */
  host?: string;
  /** 0: any free port. */
  port: number;
  /** The text of `/metrics`. */
  metrics?: () => Promise<{ contentType: string; body: string }>;
  clock: Clock;
  log: Logger;
  /** A connection without traffic for this time is closed, also when the client does not read. 10 s by default. */
  idleTimeoutMs?: number;
}

/** `/healthz`, `/readyz` and `/metrics` over HTTP, and nothing else: clients need no credentials. */
export interface HealthServer {
  /** Checks of `/readyz`. */
  readonly readyz: HealthChecks;
  /** Resolves when it listens. Stays pending if it cannot: then `run` rejects. */
  readonly address: Promise<{ host: string; port: number }>;
  /** Serves until `signal` fires, then lets open requests finish. Rejects when it cannot listen. */
  run(signal: AbortSignal): Promise<void>;
}

/** The clients are probes and scrapers: few, small and quick. Slow or excess connections are closed. */
const limits = {
  connections: 64,
  headerBytes: 8 * 1024,
  requestMs: 5_000,
  /** How long open requests may take after the stop. */
  closingMs: 1_000,
};

const createHttpServer = (listener: RequestListener, idleMs: number, log: Logger): Server => {
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.requestMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: idleMs,
      connectionsCheckingInterval: 1_000,
    },
    listener,
  );
  server.maxConnections = limits.connections;
  server.setTimeout(idleMs, (socket) => {
    log.debug('A connection on which nothing moves is cut off', { idleMs });
    socket.destroy();
  });
  return server;
};

const closeServer = (server: Server, clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    const cancelTimer = clock.after(limits.closingMs, () => server.closeAllConnections());
    server.close(() => {
      cancelTimer();
      resolve();
    });
  });

export const createHealthServer = (options: HealthServerOptions): HealthServer => {
  const { host = '127.0.0.1', port, metrics, clock, log, idleTimeoutMs = 10_000 } = options;
  const readyz: HealthChecks = new Map();
  const address = Promise.withResolvers<{ host: string; port: number }>();

  const listenerOf =
    (stopping: AbortSignal): RequestListener =>
    (request, response) => {
      const { method = '', url = '' } = request;
      const answer = async (): Promise<void> => {
        const { code, contentType, body } = await handleProbe({ readyz, metrics, clock }, { method, url });
        if (code === 500) log.warn('A probe is answered with what is wrong', { url, body });
        response.writeHead(code, {
          'content-type': contentType,
          'content-length': Buffer.byteLength(body),
          'x-content-type-options': 'nosniff',
          'cache-control': 'no-store',
          ...(stopping.aborted && { connection: 'close' }),
        });
        response.end(method === 'HEAD' ? undefined : body);
      };
      request.resume();
      answer().catch((error: unknown) => {
        log.error('A probe could not be answered', { url, error });
        response.destroy();
      });
    };

  return {
    readyz,
    address: address.promise,
    run: async (signal) => {
      if (signal.aborted) return;
      const server = createHttpServer(listenerOf(signal), idleTimeoutMs, log);
      const bound = await listen(server, 'the health server', host, port);
      log.info('The health server listens', bound);
      address.resolve(bound);
      const broken = Promise.withResolvers<never>();
      server.on('error', broken.reject);
      try {
        await Promise.race([untilAborted(signal), broken.promise]);
      } finally {
        await closeServer(server, clock);
      }
    },
  };
};

interface HealthServersOptions {
  readonly options: {
    readonly healthAddress: BindAddress | undefined;
    readonly metricsAddress: BindAddress | undefined;
  };
  readonly metrics: Pick<Metrics, 'text'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Two addresses: the kubelet uses one, Prometheus the other, and a network policy can distinguish them. */
export const createHealthServers = ({ options, metrics, clock, log }: HealthServersOptions) => {
  const { healthAddress, metricsAddress } = options;
  const probes = healthAddress && createHealthServer({ ...healthAddress, clock, log });
  const scraped = metricsAddress && createHealthServer({ ...metricsAddress, metrics: metrics.text, clock, log });
  const servers = [probes, scraped].filter((server) => server !== undefined);
  return {
    readyz: probes?.readyz ?? new Map(),
    /** Undefined if not served. */
    addresses: { probes: probes?.address, metrics: scraped?.address },
    /** Serves while `work` runs. A server that cannot listen aborts `work`, and the result is its error. */
    serveWhile: async (
      signal: AbortSignal,
      work: (signal: AbortSignal) => Promise<ManagerResult>,
    ): Promise<ManagerResult> => {
      const over = new AbortController();
      const broken = new AbortController();
      let reason: string | undefined;
      const serving = servers.map((server) =>
        server.run(over.signal).catch((error: unknown) => {
          reason ??= errorMessage(error);
          broken.abort();
        }),
      );
      const result = await work(AbortSignal.any([signal, broken.signal]));
      over.abort();
      await Promise.all(serving);
      return reason === undefined ? result : { ok: false, reason };
    },
  };
};
