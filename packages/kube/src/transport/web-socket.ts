import type { ClientRequest, IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import type { Clock } from '../clock/clock.ts';
import { abortError } from '../errors/aborted.ts';
import { connectionError } from '../errors/connection-error.ts';
import { fromAnswer } from '../errors/from-status.ts';
import type { KubeError } from '../errors/kube-error.ts';
import { tlsOptions } from './agents.ts';
import { bodyOf } from './body.ts';
import { collect } from './collect.ts';
import { limitConnect } from './connect-timeout.ts';
import { plainHeaders } from './exchange.ts';
import type { Credentials, Endpoint, HttpsTransportOptions } from './https-options.ts';
import { messagesOf } from './messages.ts';
import type { Channel } from './transport.ts';

/** What an exec sends at a time is far below. */
const largestMessage = 16 * 1024 * 1024;
const largestRefusal = 1024 * 1024;

export interface WebSocketRequest {
  endpoint: Endpoint;
  options: HttpsTransportOptions;
  credentials: Credentials;
  clock: Clock;
  connectTimeoutMs: number;
  path: string;
  protocols: readonly string[];
  signal: AbortSignal;
}

const dial = (request: WebSocketRequest, Socket: typeof WebSocket): WebSocket => {
  const { endpoint, options, credentials, clock, connectTimeoutMs, path, protocols } = request;
  return new Socket(`wss://${endpoint.address}${endpoint.basePath}${path}`, [...protocols], {
    ...tlsOptions(options, credentials.certificate),
    headers: { ...credentials.headers },
    perMessageDeflate: false,
    maxPayload: largestMessage,
    followRedirects: false,
    finishRequest: (outgoing: ClientRequest) => {
      limitConnect(outgoing, endpoint.address, clock, connectTimeoutMs);
      outgoing.end();
    },
  });
};

const refusal = async (message: IncomingMessage, now: number): Promise<KubeError> =>
  fromAnswer({
    what: 'open a stream',
    code: message.statusCode ?? 0,
    headers: plainHeaders(message),
    body: await collect(bodyOf(message, asError), largestRefusal),
    now,
  });

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const send = (socket: WebSocket, message: Uint8Array, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.send(message, { binary: true }, (error) => {
      if (error) reject(connectionError(address, error));
      else resolve();
    });
  });

/** Most processes never run a command in a Pod: what that takes is loaded when one does. */
export const openWebSocket = async (request: WebSocketRequest): Promise<Channel> => {
  const { WebSocket } = await import('ws');
  return connect(request, WebSocket);
};

/** Switches to WebSocket; the signal ends the connection at any time, as long as it lives. */
const connect = (request: WebSocketRequest, Socket: typeof WebSocket): Promise<Channel> =>
  new Promise((resolve, reject) => {
    const { endpoint, signal, clock } = request;
    const { address } = endpoint;
    if (signal.aborted) return reject(abortError(signal));
    const socket = dial(request, Socket);
    const explain = (error: unknown): Error => (signal.aborted ? abortError(signal) : connectionError(address, error));
    const abort = (): void => socket.terminate();
    signal.addEventListener('abort', abort, { once: true });
    const messages = messagesOf(socket, explain);
    socket.on('error', (error) => reject(explain(error)));
    socket.once('close', () => {
      signal.removeEventListener('abort', abort);
      reject(explain(new Error('the connection was closed')));
    });
    socket.once('unexpected-response', (outgoing, message) => {
      refusal(message, clock.now())
        .then(reject, (error: unknown) => reject(explain(error)))
        .finally(() => outgoing.destroy());
    });
    socket.once('open', () =>
      resolve({
        protocol: socket.protocol,
        messages,
        send: (message) => send(socket, message, address),
        close: () => socket.close(),
      }),
    );
  });
