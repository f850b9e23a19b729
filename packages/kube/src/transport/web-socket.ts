import type { ClientRequest, IncomingMessage } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../clock/clock.ts';
import { abortError } from '../errors/abort-signal.ts';
import { connectionError } from '../errors/connection-error.ts';
import { fromResponse } from '../errors/from-status.ts';
import type { KubeError } from '../errors/kube-error.ts';
import { collectText, readChunks } from './body.ts';
import { plainHeaders } from './exchange.ts';
import {
  applyConnectTimeout,
  type Credentials,
  type Endpoint,
  type HttpsTransportOptions,
  tlsOptions,
} from './https-connection.ts';
import type { Channel } from './transport.ts';

/** What an exec sends at a time is far below. */
const maxMessageBytes = 16 * 1024 * 1024;
const maxErrorBytes = 1024 * 1024;

interface WebSocketRequest {
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
    maxPayload: maxMessageBytes,
    followRedirects: false,
    finishRequest: (outgoing: ClientRequest) => {
      applyConnectTimeout(outgoing, endpoint.address, clock, connectTimeoutMs);
      outgoing.end();
    },
  });
};

const upgradeError = async (message: IncomingMessage, now: number): Promise<KubeError> =>
  fromResponse({
    what: 'open a stream',
    code: message.statusCode ?? 0,
    headers: plainHeaders(message),
    body: await collectText(readChunks(message, asError), maxErrorBytes),
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
      upgradeError(message, clock.now())
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

/** Messages that may wait for their reader before the sender has to. */
const maxBufferedMessages = 16;

const bytesOf = (data: RawData): Uint8Array => {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
};

/**
 * What arrives on a WebSocket, in order. It ends when the other side closes, and throws what `explain` makes of a broken connection,
 * after everything that came before. One reader.
 */
const messagesOf = (socket: WebSocket, explain: (error: unknown) => Error): AsyncIterable<Uint8Array> => {
  const queue: Uint8Array[] = [];
  let end: { error?: Error } | undefined;
  let wake = (): void => {};

  socket.on('message', (data: RawData) => {
    queue.push(bytesOf(data));
    if (queue.length >= maxBufferedMessages) socket.pause();
    wake();
  });
  socket.on('error', (error) => {
    end ??= { error: explain(error) };
    wake();
  });
  socket.on('close', (code) => {
    // 1006: no closing handshake, the connection just went away.
    end ??= code === 1006 ? { error: explain(new Error('the connection was closed without a goodbye')) } : {};
    wake();
  });

  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    for (;;) {
      const message = queue.shift();
      if (message) {
        if (queue.length === 0 && socket.isPaused) socket.resume();
        return { done: false, value: message };
      }
      if (end?.error) throw end.error;
      if (end) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const leave = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    socket.close();
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
};
