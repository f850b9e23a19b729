import { once } from 'node:events';
import { createServer } from 'node:http';

/** A Scaleway that only answers reads. Much lighter than the simulated one: its load is not to be measured. */
export interface LightScaleway {
  readonly url: string;
  /** All requests since the start, without the query of lists. */
  readonly requests: readonly string[];
  stop(): Promise<void>;
}

interface Answers {
  /** In the wire format. */
  readonly servers: readonly object[];
  readonly keys: object;
}

const serversPath = /^\/apple-silicon\/v1alpha1\/zones\/[^/]+\/servers(?:\/([^/]+))?$/;

export const startLightScaleway = async ({ servers, keys }: Answers): Promise<LightScaleway> => {
  const requests: string[] = [];
  const byID = new Map(servers.map((server) => [(server as { id: string }).id, server]));
  const page = (query: URLSearchParams): object => {
    const size = Number(query.get('page_size') ?? 20);
    const start = (Number(query.get('page') ?? 1) - 1) * size;
    return { servers: servers.slice(start, start + size), total_count: servers.length };
  };
  const answer = (method: string, { pathname, searchParams }: URL): object | undefined => {
    if (method !== 'GET') return undefined;
    if (pathname === '/iam/v1alpha1/ssh-keys') return keys;
    const [path, id] = serversPath.exec(pathname) ?? [];
    if (path === undefined) return undefined;
    return id === undefined ? page(searchParams) : byID.get(id);
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://scaleway');
    requests.push(`${request.method} ${url.pathname}`);
    const body = answer(request.method ?? '', url);
    response.writeHead(body === undefined ? 403 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? { type: 'permissions_denied', message: 'only reads are answered here' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a server on a port has an address');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};
