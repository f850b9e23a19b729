import type { Server } from 'node:net';

/** Resolves when `server` listens, with the actual port (port 0: any free one). Rejects with advice; `what` names the server there. */
export const listen = (
  server: Server,
  what: string,
  host: string,
  port: number,
): Promise<{ host: string; port: number }> =>
  new Promise((resolve, reject) => {
    const onError = (error: Error): void =>
      reject(
        new Error(
          `${what} cannot listen on ${host}:${port}: ${error.message}. Choose another address, or stop what uses this one`,
          { cause: error },
        ),
      );
    server.once('error', onError);
    server.listen(port, host, () => {
      server.removeListener('error', onError);
      const address = server.address();
      resolve({ host, port: typeof address === 'object' && address ? address.port : port });
    });
  });
