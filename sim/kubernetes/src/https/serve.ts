import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, isIP, isIPv6, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { sleep, systemClock } from '@tartan/kube/clock';
import { badRequest } from '../errors/api-error.ts';
import type { ApiResponse, Handle } from '../http-messages.ts';
import { kubeletOptions } from '../kubelet/kubelet-client.ts';
import type { ClusterPki, KeyPair } from '../pki/pki.ts';
import { readBody, rejectMalformedRequest, toRequest } from './incoming-request.ts';
import { errorResponse, respond } from './send-response.ts';
import { answerOn, proxyUpgrade } from './upgrade-proxy.ts';

/** Limits of one client. */
export interface Limits {
  /** Of a request body. The same as the real server's. */
  bodyBytes: number;
  /** Timeouts for all headers, and for the whole request. */
  headersMilliseconds: number;
  requestMilliseconds: number;
  /** How often the two timeouts are checked. */
  checkMilliseconds: number;
  /** How long a closing server waits for responses in progress. */
  closeMilliseconds: number;
}

const defaultLimits: Limits = {
  bodyBytes: 3 * 1024 * 1024,
  headersMilliseconds: 10_000,
  requestMilliseconds: 60_000,
  checkMilliseconds: 2_000,
  closeMilliseconds: 1_000,
};

interface ServeOptions {
  handle: Handle;
  identity: ClusterPki;
  host?: string;
  /** 0: any free port. */
  port?: number;
  limits?: Partial<Limits>;
}

export interface Served {
  url: string;
  port: number;
  /** Ends all requests (a watch ends as if it had timed out) and closes all sockets. */
  close(): Promise<void>;
}

const tenYears = 10 * 365 * 24 * 3600;
const everywhere = (host: string): boolean => host === '0.0.0.0' || host === '::';

const servingCertificate = (identity: ClusterPki, host: string): Promise<KeyPair> => {
  const local = everywhere(host) ? Object.values(networkInterfaces()).flatMap((list) => list ?? []) : [];
  const addresses = ['127.0.0.1', '::1', ...(isIP(host) ? [host] : []), ...local.map(({ address }) => address)];
  const names = ['', '.default', '.default.svc', '.default.svc.cluster.local'].map((suffix) => `kubernetes${suffix}`);
  return identity.issue({
    commonName: 'kube-apiserver',
    organizations: [],
    addresses: [...new Set(addresses)],
    dnsNames: [...new Set(['localhost', ...names, ...(isIP(host) ? [] : [host])])],
    usages: ['server auth', 'digital signature'],
    seconds: tenYears,
  });
};

const listen = (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      const what = `Port ${port} on ${host} is already in use, so the API server cannot listen there.`;
      return reject(new Error(`${what} Stop what uses it, or choose another port.`, { cause: error }));
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });

/** Requests in progress, by the controller that aborts them. */
type Active = Map<AbortController, Promise<void>>;

const track = (active: Active, work: (controller: AbortController) => Promise<void>): void => {
  const controller = new AbortController();
  const done = work(controller)
    .catch(() => {})
    .finally(() => active.delete(controller));
  active.set(controller, done);
};

const assertHost = ({ headers, httpVersion }: IncomingMessage): void => {
  if (headers.host === undefined && httpVersion !== '1.0') throw badRequest('missing required Host header');
};

const orErrorResponse = async (answer: Promise<ApiResponse>): Promise<ApiResponse> => answer.catch(errorResponse);

const createClose =
  (server: Server, sockets: Set<Socket>, active: Active, timeoutMs: number) => async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    for (const controller of active.keys()) controller.abort();
    const closing = new AbortController();
    await Promise.race([Promise.all(active.values()), sleep(systemClock, timeoutMs, closing.signal)]);
    closing.abort();
    for (const socket of sockets) socket.destroy();
    await closed;
  };

/** TLS, HTTP/1.1 and sockets around the API server. Of Kubernetes it knows only the errors. */
export const serve = async (options: ServeOptions): Promise<Served> => {
  const { handle, identity, host = '127.0.0.1', port = 0 } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const { certificate, key } = await servingCertificate(identity, host);
  const kubelet = kubeletOptions(identity);
  const active: Active = new Map();
  const sockets = new Set<Socket>();

  const onRequest = (incoming: IncomingMessage, response: ServerResponse): void =>
    track(active, async (controller) => {
      response.once('close', () => controller.abort());
      response.on('error', () => response.destroy());
      try {
        assertHost(incoming);
        const body = await readBody(incoming, limits.bodyBytes, controller.signal);
        const answer = await orErrorResponse(handle(toRequest(incoming, body, controller.signal)));
        await respond(response, answer, controller.signal);
      } catch (error) {
        response.shouldKeepAlive = false;
        await respond(response, errorResponse(error), controller.signal);
      }
    });

  const onUpgrade = (incoming: IncomingMessage, client: Socket, head: Buffer): void =>
    track(active, async (controller) => {
      const { signal } = controller;
      client.on('error', () => client.destroy());
      client.once('close', () => controller.abort());
      const answer = await orErrorResponse(handle(toRequest(incoming, Buffer.alloc(0), signal)));
      if (client.destroyed) return;
      if (answer.kind === 'upgrade')
        await proxyUpgrade({ incoming, client, head, url: answer.url, options: kubelet, signal });
      else await respond(answerOn(incoming, client), answer, signal);
    });

  const server = createServer({
    key,
    cert: certificate,
    ca: identity.caCertificate,
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: limits.headersMilliseconds,
    headersTimeout: limits.headersMilliseconds,
    requestTimeout: limits.requestMilliseconds,
    connectionsCheckingInterval: limits.checkMilliseconds,
    keepAliveTimeout: 120_000,
    // See assertHost: Node's own response has no Status.
    requireHostHeader: false,
    // The query of an exec contains the command; Go allows as much.
    maxHeaderSize: 1024 * 1024,
    shouldUpgradeCallback: ({ headers }) => /^(websocket|spdy\/3\.1)$/i.test(headers.upgrade ?? ''),
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('upgrade', onUpgrade);
  server.on('clientError', rejectMalformedRequest);
  const bound = await listen(server, host, port);
  const shown = everywhere(host) ? '127.0.0.1' : isIPv6(host) ? `[${host}]` : host;
  return {
    url: `https://${shown}:${bound}`,
    port: bound,
    close: createClose(server, sockets, active, limits.closeMilliseconds),
  };
};
