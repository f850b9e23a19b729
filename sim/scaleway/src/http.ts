import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ApiRequest, ApiResponse } from './api/handler.ts';

/** The result of one exchange. */
export type Reply = { readonly send: ApiResponse } | 'disconnect' | 'hang';

interface Served {
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves a function over HTTP on 127.0.0.1. */
export const serve = async (port: number, reply: (request: ApiRequest, target: string) => Reply): Promise<Served> => {
  const server = createServer((incoming, outgoing) => {
    const target = incoming.url ?? '/';
    const url = new URL(target, 'http://scaleway.invalid');
    const token = incoming.headers['x-auth-token'];
    const answer = (body: string): void => {
      const what = reply(
        {
          method: incoming.method ?? '',
          path: url.pathname,
          query: url.searchParams,
          token: typeof token === 'string' ? token : undefined,
          body,
        },
        target,
      );
      if (what === 'hang') return;
      if (what === 'disconnect') {
        incoming.socket.destroy();
        return;
      }
      const { status, body: content, headers } = what.send;
      // The SDK parses a body only with exactly this header.
      outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
      outgoing.end(content === undefined ? undefined : JSON.stringify(content));
    };
    // A client that disconnects during its request gets no answer.
    text(incoming).then(answer, () => incoming.socket.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};

/** Calls a function like a remote server: without an answer it waits until the signal fires. */
export const createFetch =
  (reply: (request: ApiRequest, target: string) => Reply): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    // Not the signal of the Request: it never fires once the Request is garbage collected.
    const signal = init?.signal ?? request.signal;
    const { pathname: path, search, searchParams: query } = new URL(request.url);
    const body = await request.text();
    signal.throwIfAborted();
    const token = request.headers.get('x-auth-token') ?? undefined;
    const what = reply({ method: request.method, path, query, token, body }, `${path}${search}`);
    if (what === 'disconnect') throw new TypeError('fetch failed: the other side closed the connection');
    if (what === 'hang') return untilAborted(signal);
    const { status, body: content, headers } = what.send;
    const text = content === undefined ? null : JSON.stringify(content);
    return new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } });
  };

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
