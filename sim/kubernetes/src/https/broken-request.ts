import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError, badRequest } from '../status/api-error.ts';

const refusals: Readonly<Record<string, ApiError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError(408, 'Timeout', 'the request did not arrive in time'),
  HPE_HEADER_OVERFLOW: new ApiError(431, 'RequestHeaderFieldsTooLarge', 'the headers of the request are too large'),
};

/** A socket on which an answer has begun: another one would end up in the middle of it. */
const isAnswering = (socket: Duplex): boolean => '_httpMessage' in socket && socket._httpMessage !== null;

/** For what never became a request. */
export const refuseBrokenRequest = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  // Everything else (no TLS, no TLS in time, a socket that broke) leaves nobody to talk to.
  const isHttp = /^(HPE|ERR_HTTP)_/.test(error.code ?? '');
  if (!isHttp || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const { code, status } = refusals[error.code ?? ''] ?? badRequest('the request is not valid HTTP');
  const body = `${JSON.stringify(status)}\n`;
  const head = [
    `HTTP/1.1 ${code} ${STATUS_CODES[code]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
};
