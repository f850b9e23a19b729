import type { Server } from 'node:net';

/** Until `server` listens. Rejects with what to do; `what` names it there. Port 0 takes any free one, and the answer says which. */
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
