import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApiProblem } from './problem.ts';

/** By name it would be loaded with all that it could ever offer, HTTP/2 and `fetch` among it: some megabytes that nobody uses. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

const headersOf = (contentType: string, body: string): Record<string, string | number> => ({
  'content-type': contentType,
  'content-length': Buffer.byteLength(body),
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
});

const plainText = 'text/plain; charset=utf-8';

export const answer = (response: ServerResponse, code: number, body: string, contentType = plainText): void => {
  response.writeHead(code, headersOf(contentType, body));
  response.end(response.req.method === 'HEAD' ? undefined : body);
};

export const answerProblem = (response: ServerResponse, { code, message }: ApiProblem): void => {
  if (response.headersSent) response.destroy();
  else answer(response, code, `${message}\n`);
};

/** A plain answer to who wanted to switch protocols. The connection ends with it. */
export const refuseUpgrade = (socket: Duplex, { code, message }: ApiProblem): void => {
  const body = `${message}\n`;
  const headers = { ...headersOf(plainText, body), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
};
