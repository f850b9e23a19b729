import { createServer } from 'node:net';

/** Loopback ports that were free a moment ago, all different. Another process may take one before its user binds it. */
export const freePorts = async (count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer());
  try {
    return await Promise.all(
      servers.map(
        (server) =>
          new Promise<number>((resolve, reject) => {
            server.once('error', reject);
            server.listen(0, '127.0.0.1', () => {
              const address = server.address();
              if (typeof address === 'object' && address !== null) resolve(address.port);
              else reject(new Error('a listening socket has no address'));
            });
          }),
      ),
    );
  } finally {
    await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  }
};
