import type { Server } from 'node:net';

// Below what Linux and macOS give to outgoing connections: a port of a Mac that is down must not be gone when it comes up again.
const firstPort = 20_000;
const ports = 12_000;

const tryPort = (server: Server, port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    };
    server.once('error', failed);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', failed);
      resolve(true);
    });
  });

const taken = new Set<number>();

/** Listens on this port of loopback, or for 0 on one that no other Mac of this process has had. Says which. */
export const listenOn = async (server: Server, wanted: number): Promise<number> => {
  if (wanted !== 0) {
    if (await tryPort(server, wanted)) return wanted;
    throw new Error(`port ${wanted} is taken by somebody else: choose another for this Mac`);
  }
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * ports);
    if (taken.has(port)) continue;
    taken.add(port);
    if (await tryPort(server, port)) return port;
  }
};
