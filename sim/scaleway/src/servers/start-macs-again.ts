import { createServer } from 'node:net';
import type { ScalewayOptions } from '../scaleway.ts';
import type { ServerRecord } from './server-record.ts';

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** The port that the Mac of a server had, if nobody else has it now. A server without a Mac has an address without a port. */
const portAgain = async ({ ip }: ServerRecord): Promise<number | undefined> => {
  const port = Number(/:(?<port>\d+)$/.exec(ip)?.groups?.['port'] ?? 0);
  return port !== 0 && (await isFree(port)) ? port : undefined;
};

/** Starts the Mac behind a server and notes where it is. */
export const startMacOf = async (
  server: ServerRecord,
  startMac: NonNullable<ScalewayOptions['startMac']>,
  authorizedKeys: readonly string[],
  port?: number,
): Promise<void> => {
  const { id, password } = server;
  server.mac = await startMac({ id, password, authorizedKeys, ...(port === undefined ? {} : { port }) });
  server.ip = `${server.mac.address.host}:${server.mac.address.port}`;
};

/** Starts the Macs of servers that were there before. Resolves or rejects when each has started or failed. */
export const startMacsAgain = async (
  servers: readonly ServerRecord[],
  startMac: NonNullable<ScalewayOptions['startMac']>,
  authorizedKeys: (projectID: string) => readonly string[],
): Promise<void> => {
  // All ports are looked at before the first Mac without one takes any.
  const ports = await Promise.all(servers.map(portAgain));
  const outcomes = await Promise.allSettled(
    servers.map((server, index) => startMacOf(server, startMac, authorizedKeys(server.projectID), ports[index])),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
};
