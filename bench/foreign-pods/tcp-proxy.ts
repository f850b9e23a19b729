import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy to a port of this machine, which can be cut. */
export interface TcpProxy {
  readonly port: number;
  /** Closes all connections, and accepts no new ones until `mend`. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export const startTcpProxy = async (to: number): Promise<TcpProxy> => {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(to, '127.0.0.1');
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a server on a port has an address');
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    cut,
    mend: () => {
      isCut = false;
    },
    close: async () => {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
};
