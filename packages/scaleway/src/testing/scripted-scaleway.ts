import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Reply {
  readonly status?: number;
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** `hang`: never answered. `cut`: the connection ends without an answer. `half`: it ends in the middle of one. */
export type ScriptedReply = Reply | 'hang' | 'cut' | 'half';

/** An HTTP server that follows a script, one step for each request; the last step answers all further ones. */
export interface ScriptedScaleway {
  readonly url: string;
  readonly received: Received[];
  respondWith(...scripts: (ScriptedReply | ((request: Received) => ScriptedReply))[]): void;
  /** Resolves once that many requests have come since the last `respondWith`. */
  arrived(count: number): Promise<void>;
  stop(): Promise<void>;
}

export const startScriptedScaleway = async (): Promise<ScriptedScaleway> => {
  const received: Received[] = [];
  let scripts: (ScriptedReply | ((request: Received) => ScriptedReply))[] = [];
  let waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const url = new URL(request.url ?? '/', 'http://scaleway');
      const { method = '', headers } = request;
      const one = { method, path: url.pathname, query: url.searchParams, headers, body };
      received.push(one);
      const script = scripts[Math.min(received.length, scripts.length) - 1] ?? { status: 500 };
      answer(response, typeof script === 'function' ? script(one) : script);
      for (const { count, resolve } of waiting) if (received.length >= count) resolve();
      waiting = waiting.filter(({ count }) => received.length < count);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    respondWith: (...next) => {
      scripts = next;
      received.length = 0;
    },
    arrived: (count) =>
      received.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ count, resolve });
          }),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const answer = (response: ServerResponse, script: ScriptedReply): void => {
  if (script === 'hang') return;
  if (script === 'cut') {
    response.destroy();
    return;
  }
  if (script === 'half') {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
    response.write('{"servers": [', () => response.destroy());
    return;
  }
  const { status = 200, body, headers = {} } = script;
  const content = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'text/html' : 'application/json';
  response.writeHead(status, { 'Content-Type': type, ...headers }).end(status === 204 ? undefined : content);
};
