import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import type { RequestDeps } from '../handle-request.ts';
import { badRequest, HttpError, rejectUpgrade, toHttpError } from '../http-response.ts';
import { parseAttachQuery, parseExecQuery, parseRequest, type Route } from '../parse-request.ts';
import type { PodName, RemoteSession, StreamRequest } from '../pod-runtime.ts';
import { servePortForward } from './port-forward.ts';
import { serveSession } from './remote-command.ts';
import { spdyClient, spdyCommandProtocol } from './spdy-client.ts';
import { remoteCommandProtocols, webSocketClient } from './websocket-client.ts';

export interface UpgradeDeps extends Omit<RequestDeps, 'metrics'> {
  maxSessions: number;
  maxMessageBytes: number;
  /** Called with every error, including client errors. */
  onError(error: unknown): void;
  /** Closes the connection when it is idle for too long. */
  closeWhenIdle(incoming: IncomingMessage): void;
}

const forwardProtocols = { webSocket: 'SPDY/3.1+portforward.k8s.io', spdy: 'portforward.k8s.io' } as const;

const parseList = (header: string | string[] | undefined): string[] =>
  (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((each) => each.trim());

/** Throws HttpError, naming both protocols, if the client offers neither. */
const transportOf = ({ headers, method }: IncomingMessage): 'websocket' | 'spdy' => {
  const wanted = parseList(headers.upgrade).map((each) => each.toLowerCase());
  if (wanted.includes('websocket') && method === 'GET') return 'websocket';
  if (wanted.includes('spdy/3.1')) return 'spdy';
  throw badRequest('Only WebSocket (by GET) and SPDY/3.1 are supported');
};

/** Throws unless the client offers one of `known`. */
const negotiate = (header: string | string[] | undefined, known: readonly string[]): string => {
  const offered = parseList(header);
  const chosen = known.find((protocol) => offered.includes(protocol));
  if (chosen !== undefined) return chosen;
  throw badRequest(`None of the offered protocols is supported: use ${known.join(' or ')}`);
};

const switchToSpdy = (socket: Duplex, head: Buffer, protocol: string): void => {
  const lines = ['Connection: Upgrade', 'Upgrade: SPDY/3.1', `X-Stream-Protocol-Version: ${protocol}`];
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
};

/** Loads `ws`, which takes a megabyte: most agents idle for days without a session. */
const createWebSocketServers = async (maxPayload: number) => {
  const { createWebSocketStream, WebSocketServer } = await import('ws');
  const options = { noServer: true, perMessageDeflate: false, maxPayload, clientTracking: false };
  const commands = new WebSocketServer({
    ...options,
    handleProtocols: (offered) => remoteCommandProtocols.find((protocol) => offered.has(protocol)) ?? false,
  });
  const forwards = new WebSocketServer(options);
  // `ws` rejects protocol names with a slash, so the header is removed from the request and added to the response here.
  forwards.on('headers', (headers) => headers.push(`Sec-WebSocket-Protocol: ${forwardProtocols.webSocket}`));
  return { commands, forwards, createWebSocketStream };
};

type WebSocketServers = Awaited<ReturnType<typeof createWebSocketServers>>;

interface Upgrade {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly webSockets: WebSocketServers;
}

/** The connection after the upgrade. */
type Carrier =
  | { readonly kind: 'websocket'; readonly socket: WebSocket }
  | { readonly kind: 'spdy'; readonly socket: Duplex };

/** exec, attach and port-forward, in both protocols. Unauthorized and invalid requests are rejected before the upgrade. */
export const createUpgradeHandler = (deps: UpgradeDeps) => {
  const { runtime, auth, clock, maxSessions, maxMessageBytes, onError, closeWhenIdle } = deps;
  let webSockets: Promise<WebSocketServers> | undefined;
  let sessions = 0;

  const openWebSocket = (server: WebSocketServer, { incoming, socket, head }: Upgrade) =>
    new Promise<Carrier | undefined>((resolve) => {
      socket.once('close', () => resolve(undefined));
      server.handleUpgrade(incoming, socket, head, (webSocket) => {
        // `ws` removes the idle timeout.
        closeWhenIdle(incoming);
        resolve({ kind: 'websocket', socket: webSocket });
      });
    });

  /**
   * Upgrades the connection. `undefined`: the client has disconnected. Throws HttpError unless the client offers a supported
   * protocol.
   */
  const switchProtocol = async (
    upgrade: Upgrade,
    server: WebSocketServer,
    webSocketProtocols: readonly string[],
    spdyProtocol: string,
  ): Promise<Carrier | undefined> => {
    const { incoming, socket, head, webSockets } = upgrade;
    const { headers } = incoming;
    if (transportOf(incoming) === 'spdy') {
      switchToSpdy(socket, head, negotiate(headers['x-stream-protocol-version'], [spdyProtocol]));
      return { kind: 'spdy', socket };
    }
    negotiate(headers['sec-websocket-protocol'], webSocketProtocols);
    if (server === webSockets.forwards) delete headers['sec-websocket-protocol'];
    return openWebSocket(server, upgrade);
  };

  const serveCommand = async (
    upgrade: Upgrade,
    streams: StreamRequest,
    open: () => Promise<RemoteSession>,
  ): Promise<void> => {
    const { commands } = upgrade.webSockets;
    const carrier = await switchProtocol(upgrade, commands, remoteCommandProtocols, spdyCommandProtocol);
    const client =
      carrier?.kind === 'websocket'
        ? webSocketClient(carrier.socket, clock)
        : carrier && (await spdyClient(carrier.socket, streams, clock));
    if (client) await serveSession(client, open, onError);
  };

  const serveForward = async (upgrade: Upgrade, pod: PodName): Promise<void> => {
    const dial = (port: number, signal: AbortSignal): Promise<Duplex> => runtime.dial(pod, port, signal);
    const { forwards, createWebSocketStream } = upgrade.webSockets;
    const carrier = await switchProtocol(upgrade, forwards, [forwardProtocols.webSocket], forwardProtocols.spdy);
    if (carrier?.kind === 'websocket') {
      const stream = createWebSocketStream(carrier.socket);
      stream.on('error', () => carrier.socket.terminate());
      await servePortForward(stream, { clock, dial, onError });
    } else if (carrier) await servePortForward(carrier.socket, { clock, dial, onError });
  };

  /** Throws HttpError for a route without streaming, and for an invalid query. */
  const streamTaskFor = (route: Route, query: URLSearchParams): ((upgrade: Upgrade) => Promise<void>) => {
    if (route.kind === 'exec') {
      const request = parseExecQuery(query);
      return (upgrade) => serveCommand(upgrade, request, () => runtime.exec(route.container, request));
    }
    if (route.kind === 'attach') {
      const streams = parseAttachQuery(query);
      return (upgrade) => serveCommand(upgrade, streams, () => runtime.attach(route.container, streams));
    }
    if (route.kind === 'portForward') return (upgrade) => serveForward(upgrade, route.pod);
    throw badRequest('There is nothing to switch protocols for at this path');
  };

  const serve = async (incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const { route, query } = parseRequest(incoming.method ?? '', incoming.url ?? '');
    await auth.authorize(incoming, route);
    const task = streamTaskFor(route, query);
    const servers = await (webSockets ??= createWebSocketServers(maxMessageBytes));
    if (socket.destroyed) return;
    if (sessions >= maxSessions) throw new HttpError(503, `There are ${maxSessions} sessions already: end one of them`);
    sessions += 1;
    try {
      await task({ incoming, socket, head, webSockets: servers });
    } finally {
      sessions -= 1;
    }
  };

  return (incoming: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy());
    closeWhenIdle(incoming);
    serve(incoming, socket, head).catch((error: unknown) => {
      const httpError = toHttpError(error);
      onError(error);
      if (!socket.destroyed) rejectUpgrade(socket, httpError);
    });
  };
};
