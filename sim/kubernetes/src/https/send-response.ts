import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { ApiError, badRequest, internalError } from '../errors/api-error.ts';
import { type ApiResponse, jsonResponse, type PlainResponse, type StreamResponse } from '../http-messages.ts';

/** Compressing less costs more than it saves. The real server's threshold. */
const gzipBytes = 128 * 1024;
const compress = promisify(gzip);

export const errorResponse = (error: unknown): PlainResponse => {
  const { code, status } = error instanceof ApiError ? error : internalError('the request could not be handled');
  return jsonResponse(code, status);
};

const acceptsGzip = (header: string | undefined): boolean =>
  (header ?? '').split(',').some((entry) => entry.trim() === 'gzip');

const isJson = (headers: Record<string, string>): boolean =>
  (headers['content-type'] ?? '').startsWith('application/json');

const encoded = async (answer: PlainResponse, accepted: string | undefined): Promise<PlainResponse> => {
  const { headers, body } = answer;
  if (body.length <= gzipBytes || !isJson(headers) || !acceptsGzip(accepted)) return answer;
  const vary = headers['vary'] === undefined ? 'Accept-Encoding' : `${headers['vary']}, Accept-Encoding`;
  return {
    ...answer,
    headers: { ...headers, 'content-encoding': 'gzip', vary },
    body: await compress(body, { level: constants.Z_BEST_SPEED }),
  };
};

const hasNoBody = (code: number): boolean => code === 204 || code === 304 || code < 200;

/** Ends the response and waits until it is sent, or the client has disconnected. */
const finish = (response: ServerResponse, body?: string | Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    if (response.closed || response.req.socket.destroyed) return resolve();
    response.once('finish', resolve);
    response.once('close', resolve);
    return response.end(body);
  });

const sendPlain = async (
  response: ServerResponse,
  answer: PlainResponse,
  accepted: string | undefined,
): Promise<void> => {
  const { code, headers, body } = await encoded(answer, accepted);
  if (hasNoBody(code)) {
    response.writeHead(code, headers);
    return finish(response);
  }
  response.writeHead(code, { ...headers, 'content-length': Buffer.byteLength(body) });
  return finish(response, response.req.method === 'HEAD' ? undefined : body);
};

/** The result, or undefined as soon as the signal fires. Leaves no listener on a long-lived signal. */
const unlessAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });

/** One write per chunk, with backpressure. */
const sendStream = async (response: ServerResponse, stream: StreamResponse, signal: AbortSignal): Promise<void> => {
  response.writeHead(stream.code, stream.headers);
  response.flushHeaders();
  const chunks = stream.chunks[Symbol.asyncIterator]();
  try {
    while (!signal.aborted && response.req.method !== 'HEAD') {
      const next = await unlessAborted(chunks.next(), signal);
      if (!next || next.done) break;
      if (!response.write(next.value)) await unlessAborted(drained(response), signal);
    }
  } finally {
    // Not awaited: a busy source returns only after its current step.
    void Promise.resolve(chunks.return?.()).catch(() => {});
  }
  await finish(response);
};

/** Writes a response to the socket. An error after the first byte can only be shown by closing the connection. */
export const respond = async (response: ServerResponse, answer: ApiResponse, signal: AbortSignal): Promise<void> => {
  try {
    if (answer.kind === 'stream') await sendStream(response, answer, signal);
    else if (answer.kind === 'answer') await sendPlain(response, answer, response.req.headers['accept-encoding']);
    else await sendPlain(response, errorResponse(badRequest('Upgrade request required')), undefined);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else await sendPlain(response, errorResponse(error), undefined);
  }
};
