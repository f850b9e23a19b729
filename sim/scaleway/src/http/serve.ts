import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Answer, ApiRequest } from '../requests/request.ts';

/** What becomes of one exchange. */
export type Reply = { readonly send: Answer } | 'cut the connection' | 'never answer';

export interface Served {
  readonly url: string;
  stop(): Promise<void>;
}

/** HTTP on 127.0.0.1 around a function. */
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
      if (what === 'never answer') return;
      if (what === 'cut the connection') {
        incoming.socket.destroy();
        return;
      }
      const { status, body: content, headers } = what.send;
      // The SDK parses a body only if this header says exactly this.
      outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
      outgoing.end(content === undefined ? undefined : JSON.stringify(content));
    };
    // Whoever hangs up in the middle of a request has asked nothing.
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
