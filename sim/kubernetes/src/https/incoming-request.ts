import { createHash } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { ApiError, badRequest, serviceUnavailable, tooLarge } from '../errors/api-error.ts';
import type { ApiRequest } from '../http-messages.ts';

type Credentials = Pick<ApiRequest, 'certificate' | 'untrustedCertificate'>;

const listOf = (value: string | string[] | undefined): string[] => (value === undefined ? [] : [value].flat());

/**
 * The subject of the client's certificate, if this cluster issued it. `authorized` alone proves nothing: it is also true for a resumed
 * session without a client certificate.
 */
const readCredentials = (socket: TLSSocket): Credentials => {
  const { raw, subject } = socket.getPeerCertificate();
  if (!raw) return {};
  if (!socket.authorized) return { untrustedCertificate: true };
  return {
    certificate: {
      commonName: listOf(subject.CN).at(-1) ?? '',
      organizations: listOf(subject.O),
      fingerprint: createHash('sha256').update(raw).digest('hex'),
    },
  };
};

/** Cached per connection: parsing a certificate costs more than a small response. */
const known = new WeakMap<TLSSocket, Credentials>();

const credentialsOf = (socket: unknown): Credentials => {
  if (!(socket instanceof TLSSocket)) return {};
  const credentials = known.get(socket) ?? readCredentials(socket);
  known.set(socket, credentials);
  return credentials;
};

/** Path and query of a request line, which may also contain a whole URL. */
export const splitTarget = (target: string): { path: string; query: URLSearchParams } => {
  const local = target.startsWith('/') || !URL.canParse(target) ? target : target.replace(/^[a-z]+:\/\/[^/?]*/i, '');
  const at = local.indexOf('?');
  return {
    path: at < 0 ? local : local.slice(0, at),
    query: new URLSearchParams(at < 0 ? '' : local.slice(at + 1)),
  };
};

export const toRequest = (incoming: IncomingMessage, body: Uint8Array, signal: AbortSignal): ApiRequest => ({
  method: incoming.method ?? 'GET',
  ...splitTarget(incoming.url ?? '/'),
  headers: Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, listOf(value).join(', ')]),
  ),
  body,
  ...credentialsOf(incoming.socket),
  signal,
});

/**
 * Reads and discards so many times the limit of a body that is too large, because a client that is cut off while sending does not read the
 * response.
 */
const discardFactor = 8;

/**
 * The whole body. Throws 413 when it is over the limit, and 503 when the client disconnects or the server closes; the client may never read
 * that.
 */
export const readBody = (incoming: IncomingMessage, limit: number, signal: AbortSignal): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const refusal = tooLarge(`Request entity too large: limit is ${limit}`);
    const incomplete = (): void => reject(serviceUnavailable('the request was not complete'));
    let parts: Buffer[] = [];
    let size = 0;
    incoming.on('data', (part: Buffer) => {
      size += part.length;
      if (size <= limit) parts.push(part);
      else parts = [];
      if (size > discardFactor * limit) reject(refusal);
    });
    incoming.once('end', () => (size > limit ? reject(refusal) : resolve(Buffer.concat(parts))));
    incoming.once('error', incomplete);
    incoming.once('close', incomplete);
    signal.addEventListener('abort', incomplete, { once: true });
  });

const errorsByCode: Readonly<Record<string, ApiError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError(408, 'Timeout', 'the request did not arrive in time'),
  HPE_HEADER_OVERFLOW: new ApiError(431, 'RequestHeaderFieldsTooLarge', 'the headers of the request are too large'),
};

/** A response has begun on this socket: another one would end up in the middle of it. */
const isAnswering = (socket: Duplex): boolean => '_httpMessage' in socket && socket._httpMessage !== null;

/** For requests that cannot be parsed. */
export const rejectMalformedRequest = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  // After any other error (no TLS, TLS timeout, a broken socket) the client cannot read a response.
  const isHttp = /^(HPE|ERR_HTTP)_/.test(error.code ?? '');
  if (!isHttp || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const { code, status } = errorsByCode[error.code ?? ''] ?? badRequest('the request is not valid HTTP');
  const body = `${JSON.stringify(status)}\n`;
  const head = [
    `HTTP/1.1 ${code} ${STATUS_CODES[code]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
};
