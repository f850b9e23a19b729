import { createServer } from 'node:net';
import { once } from 'node:events';

/** A free port on the loopback interface. */
export const freePort = async (): Promise<number> => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a server on a port has an address');
  return address.port;
};
