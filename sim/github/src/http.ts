import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ApiRequest, Reply } from './api/handler.ts';

interface Served {
  readonly url: string;
  stop(): Promise<void>;
}

const flat = (headers: NodeJS.Dict<string | string[]>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));

/** Serves a function over HTTP on 127.0.0.1. */
export const serve = async (port: number, handle: (request: ApiRequest) => Promise<Reply>): Promise<Served> => {
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', 'http://github.invalid');
    const left = new AbortController();
    outgoing.once('close', () => left.abort());
    const answer = async (body: string): Promise<void> => {
      const what = await handle({
        method: incoming.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: flat(incoming.headers),
        body,
        signal: left.signal,
      });
      if (what === 'hang') return;
      if (what === 'disconnect') {
        incoming.socket.destroy();
        return;
      }
      const { status, body: content, headers } = what.send;
      outgoing.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
      outgoing.end(content === undefined || typeof content === 'string' ? content : JSON.stringify(content));
    };
    // A client that disconnects during its request gets no answer.
    text(incoming)
      .then(answer)
      .catch(() => incoming.socket.destroy());
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
  (handle: (request: ApiRequest) => Promise<Reply>): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    const { method } = request;
    // Not the signal of the Request: it never fires once the Request is garbage collected.
    const signal = init?.signal ?? request.signal;
    const { pathname: path, searchParams: query } = new URL(request.url);
    const body = await request.text();
    signal.throwIfAborted();
    const headers = Object.fromEntries(request.headers);
    const what = await Promise.race([handle({ method, path, query, headers, body, signal }), untilAborted(signal)]);
    if (what === 'disconnect') throw new TypeError('fetch failed: the other side closed the connection');
    if (what === 'hang') return untilAborted(signal);
    const { status, body: content, headers: more } = what.send;
    const text = content === undefined ? null : typeof content === 'string' ? content : JSON.stringify(content);
    return new Response(text, { status, headers: { 'content-type': 'application/json; charset=utf-8', ...more } });
  };

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
