import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** An error for the client, with a message for users. kubectl shows it for 400, 403 and 500 only. */
export class HttpError extends Error {
  readonly code: HttpErrorCode;
  constructor(code: HttpErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'HttpError';
    this.code = code;
  }
}

type HttpErrorCode = 400 | 401 | 403 | 404 | 405 | 409 | 500 | 503;

export const badRequest = (message: string): HttpError => new HttpError(400, message);

/** Hides internal errors from clients. */
export const toHttpError = (error: unknown): HttpError =>
  error instanceof HttpError
    ? error
    : new HttpError(500, 'The agent failed to answer this: its log says why', { cause: error });

/** An import by name would load all of node:http with HTTP/2 and `fetch`: several megabytes of unused memory. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

const headersOf = (contentType: string, body: string): Record<string, string | number> => ({
  'content-type': contentType,
  'content-length': Buffer.byteLength(body),
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
});

const plainText = 'text/plain; charset=utf-8';

export const sendResponse = (response: ServerResponse, code: number, body: string, contentType = plainText): void => {
  response.writeHead(code, headersOf(contentType, body));
  response.end(response.req.method === 'HEAD' ? undefined : body);
};

export const sendError = (response: ServerResponse, { code, message }: HttpError): void => {
  if (response.headersSent) response.destroy();
  else sendResponse(response, code, `${message}\n`);
};

/** Rejects an upgrade with a plain HTTP response, and closes the connection. */
export const rejectUpgrade = (socket: Duplex, { code, message }: HttpError): void => {
  const body = `${message}\n`;
  const headers = { ...headersOf(plainText, body), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
};
