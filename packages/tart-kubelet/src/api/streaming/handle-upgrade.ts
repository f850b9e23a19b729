import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '@tartan/kube/clock';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import type { RequestAuth } from '../auth/auth.ts';
import { badRequest, HttpError, rejectUpgrade, toHttpError } from '../http-response.ts';
import { parseAttachQuery, type ParsedRequest, parseExecQuery, parseRequest } from '../parse-request.ts';
import type { PodName, PodRuntime, RemoteSession, StreamRequest } from '../pod-runtime.ts';
import { servePortForward } from './port-forward.ts';
import { serveSession } from './remote-command.ts';
import { spdyClient, spdyCommandProtocol } from './spdy-client.ts';
import { remoteCommandProtocols, webSocketClient } from './websocket-client.ts';

export interface UpgradeDeps {
  runtime: PodRuntime;
  auth: RequestAuth;
  clock: Clock;
  maxSessions: number;
  maxMessageBytes: number;
  /** Told of whatever goes wrong, also of what is the client's own doing. */
  onError(error: unknown): void;
  /** Cuts a connection off on which nothing moves any more. */
  closeWhenIdle(incoming: IncomingMessage): void;
}

const forwardProtocols = { webSocket: 'SPDY/3.1+portforward.k8s.io', spdy: 'portforward.k8s.io' } as const;

const parseList = (header: string | string[] | undefined): string[] =>
  (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((each) => each.trim());

/** `websocket` or `spdy`; a client that wants neither is told what there is. */
const transportOf = ({ headers, method }: IncomingMessage): 'websocket' | 'spdy' => {
  const wanted = parseList(headers.upgrade).map((each) => each.toLowerCase());
  if (wanted.includes('websocket') && method === 'GET') return 'websocket';
  if (wanted.includes('spdy/3.1')) return 'spdy';
  throw badRequest('Only WebSocket (by GET) and SPDY/3.1 are spoken here');
};

/** Throws unless the client brings one of `known`. */
const negotiate = (header: string | string[] | undefined, known: readonly string[]): string => {
  const offered = parseList(header);
  const chosen = known.find((protocol) => offered.includes(protocol));
  if (chosen !== undefined) return chosen;
  throw badRequest(`None of your protocols is spoken here: use ${known.join(' or ')}`);
};

/** What is to be done once the protocol has been switched. */
type StreamTask =
  | { readonly kind: 'command'; readonly streams: StreamRequest; open(): Promise<RemoteSession> }
  | { readonly kind: 'forward'; readonly pod: PodName };

const streamTaskFor = ({ route, query }: ParsedRequest, runtime: PodRuntime): StreamTask => {
  switch (route.kind) {
    case 'exec': {
      const request = parseExecQuery(query);
      return { kind: 'command', streams: request, open: () => runtime.exec(route.container, request) };
    }
    case 'attach': {
      const streams = parseAttachQuery(query);
      return { kind: 'command', streams, open: () => runtime.attach(route.container, streams) };
    }
    case 'portForward':
      return { kind: 'forward', pod: route.pod };
    case 'containerLogs':
    case 'pods':
    case 'metrics':
    case 'resourceMetrics':
    case 'noMetrics':
    case 'health':
      throw badRequest('There is nothing to switch protocols for at this path');
  }
};

const switchToSpdy = (socket: Duplex, head: Buffer, protocol: string): void => {
  const lines = ['Connection: Upgrade', 'Upgrade: SPDY/3.1', `X-Stream-Protocol-Version: ${protocol}`];
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
};

export type HandleUpgrade = (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** exec, attach and port-forward, in both protocols. Whoever may not, or asks for nonsense, is refused before anything is switched. */
export const createUpgradeHandler = (deps: UpgradeDeps): HandleUpgrade => {
  const { runtime, auth, clock, maxSessions, maxMessageBytes, onError, closeWhenIdle } = deps;
  const webSocketOptions = {
    noServer: true,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    clientTracking: false,
  };
  const commands = new WebSocketServer({
    ...webSocketOptions,
    handleProtocols: (offered) => remoteCommandProtocols.find((protocol) => offered.has(protocol)) ?? false,
  });
  const forwards = new WebSocketServer(webSocketOptions);
  // `ws` takes no name with a slash in it: it never sees it in the request, and has no say in the answer.
  forwards.on('headers', (headers) => headers.push(`Sec-WebSocket-Protocol: ${forwardProtocols.webSocket}`));
  let sessions = 0;

  const openWebSocket = (server: WebSocketServer, incoming: IncomingMessage, socket: Duplex, head: Buffer) =>
    new Promise<WebSocket | undefined>((resolve) => {
      socket.once('close', () => resolve(undefined));
      server.handleUpgrade(incoming, socket, head, (webSocket) => {
        // `ws` takes the limit off.
        closeWhenIdle(incoming);
        resolve(webSocket);
      });
    });

  const command = async (
    { streams, open }: StreamTask & { kind: 'command' },
    incoming: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> => {
    if (transportOf(incoming) === 'websocket') {
      negotiate(incoming.headers['sec-websocket-protocol'], remoteCommandProtocols);
      const webSocket = await openWebSocket(commands, incoming, socket, head);
      if (webSocket) await serveSession(webSocketClient(webSocket, { clock }), open, onError);
      return;
    }
    switchToSpdy(socket, head, negotiate(incoming.headers['x-stream-protocol-version'], [spdyCommandProtocol]));
    const client = await spdyClient(socket, streams, { clock });
    if (client) await serveSession(client, open, onError);
  };

  const forward = async (pod: PodName, incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const dial = (port: number, signal: AbortSignal): Promise<Duplex> => runtime.dial(pod, port, signal);
    if (transportOf(incoming) === 'websocket') {
      negotiate(incoming.headers['sec-websocket-protocol'], [forwardProtocols.webSocket]);
      delete incoming.headers['sec-websocket-protocol'];
      const webSocket = await openWebSocket(forwards, incoming, socket, head);
      if (!webSocket) return;
      const carrier = createWebSocketStream(webSocket);
      carrier.on('error', () => webSocket.terminate());
      return await servePortForward(carrier, { clock, dial, onError });
    }
    switchToSpdy(socket, head, negotiate(incoming.headers['x-stream-protocol-version'], [forwardProtocols.spdy]));
    await servePortForward(socket, { clock, dial, onError });
  };

  const serve = async (incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const target = parseRequest(incoming.method ?? '', incoming.url ?? '');
    await auth.authorize(incoming, target.route);
    const work = streamTaskFor(target, runtime);
    if (socket.destroyed) return;
    if (sessions >= maxSessions) throw new HttpError(503, `There are ${maxSessions} sessions already: end one of them`);
    sessions += 1;
    try {
      if (work.kind === 'command') await command(work, incoming, socket, head);
      else await forward(work.pod, incoming, socket, head);
    } finally {
      sessions -= 1;
    }
  };

  return (incoming, socket, head) => {
    socket.on('error', () => socket.destroy());
    closeWhenIdle(incoming);
    serve(incoming, socket, head).catch((error: unknown) => {
      const httpError = toHttpError(error);
      onError(error);
      if (!socket.destroyed) rejectUpgrade(socket, httpError);
    });
  };
};
