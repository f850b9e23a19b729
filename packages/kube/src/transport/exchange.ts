import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import type { Clock } from '../clock/clock.ts';
import { abortError } from '../errors/abort-signal.ts';
import { connectionError } from '../errors/connection-error.ts';
import { readChunks } from './body.ts';
import { applyConnectTimeout, type DrainingAgent, type Endpoint } from './https-connection.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

/** A reused connection was closed before any byte of the response. */
export class StaleConnection extends Error {}

const plainHeaders = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );

/** Loaded on demand: an API server compresses no response below 128 kB. */
const createGunzip = () => process.getBuiltinModule('node:zlib').createGunzip();

const decoded = (message: IncomingMessage): Readable =>
  message.headers['content-encoding'] === 'gzip' ? pipeline(message, createGunzip(), () => {}) : message;

const isClosed = (error: unknown): boolean => {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return code === 'ECONNRESET' || code === 'EPIPE';
};

export interface HttpsConnection {
  endpoint: Endpoint;
  agent: DrainingAgent;
  clock: Clock;
  connectTimeoutMs: number;
}

/** One request and its response. Rejects with StaleConnection or KubeError. */
export const exchange = (wire: HttpsConnection, request: TransportRequest): Promise<TransportResponse> =>
  new Promise((resolve, reject) => {
    const { host, port, address, basePath } = wire.endpoint;
    const { method, path, headers, body, signal } = request;
    if (signal.aborted) return reject(abortError(signal));
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = httpsRequest({
      host,
      port,
      agent: wire.agent,
      method,
      path: `${basePath}${path}`,
      headers: { 'accept-encoding': 'gzip', ...headers, ...length },
    });
    const explain = (error: unknown): Error => (signal.aborted ? abortError(signal) : connectionError(address, error));
    const abort = (): void => void outgoing.destroy(abortError(signal));
    signal.addEventListener('abort', abort, { once: true });
    applyConnectTimeout(outgoing, address, wire.clock, wire.connectTimeoutMs);
    outgoing.on('error', (error) => {
      const stale = outgoing.reusedSocket && isClosed(error) && !signal.aborted;
      reject(stale ? new StaleConnection(error.message, { cause: error }) : explain(error));
    });
    outgoing.once('response', (message: IncomingMessage) =>
      resolve({
        code: message.statusCode ?? 0,
        headers: plainHeaders(message),
        body: readChunks(decoded(message), explain),
      }),
    );
    outgoing.once('close', () => {
      signal.removeEventListener('abort', abort);
      // Has no effect if one of the above settled the promise.
      reject(explain(new Error('the connection was closed without an answer')));
    });
    outgoing.end(body);
  });
