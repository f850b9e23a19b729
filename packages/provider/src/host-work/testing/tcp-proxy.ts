import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy to a Mac that tracks connections. */
export interface TcpProxy {
  readonly port: number;
  /** Connections so far. */
  connections(): number;
  /** Resolves when no connection is open. */
  idle(): Promise<void>;
  /** Drops every connection, like a network failure. */
  closeConnections(): void;
  close(): Promise<void>;
}

export const startTcpProxy = async (to: { readonly host: string; readonly port: number }): Promise<TcpProxy> => {
  const open = new Set<Socket>();
  let calls = 0;
  const server = createServer((near) => {
    calls += 1;
    open.add(near);
    const far = connect(to);
    near.once('close', () => {
      open.delete(near);
      far.destroy();
    });
    far.once('close', () => near.destroy());
    for (const socket of [near, far]) socket.on('error', () => socket.destroy());
    near.pipe(far).pipe(near);
  });
  const closeConnections = (): void => {
    for (const socket of open) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on no port');
  return {
    port: address.port,
    connections: () => calls,
    idle: async () => {
      for (const socket of open) await once(socket, 'close');
    },
    closeConnections,
    close: async () => {
      closeConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
