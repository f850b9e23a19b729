import { createServer } from 'node:net';
import { zones } from '../api/router.ts';
import type { EmbeddedScaleway, ScalewayOptions } from '../scaleway.ts';
import { defaultImage, type Image } from './images.ts';
import { newPassword, type ServerRecord } from './server-record.ts';

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** The previous port of a server's Mac, if it is free. The address of a server without a Mac has no port. */
const previousPort = async ({ ip }: ServerRecord): Promise<number | undefined> => {
  const port = Number(/:(?<port>\d+)$/.exec(ip)?.groups?.['port'] ?? 0);
  return port !== 0 && (await isFree(port)) ? port : undefined;
};

/** Starts the Mac of a server and records its address. */
const startMacFor = async (
  server: ServerRecord,
  startMac: NonNullable<ScalewayOptions['startMac']>,
  authorizedKeys: readonly string[],
  port?: number,
): Promise<void> => {
  const { id, password } = server;
  server.mac = await startMac({ id, password, authorizedKeys, ...(port === undefined ? {} : { port }) });
  server.ip = `${server.mac.address.host}:${server.mac.address.port}`;
};

/** Starts the Macs of existing servers. Settles when each has started or failed. */
export const restartMacs = async (
  servers: readonly ServerRecord[],
  startMac: NonNullable<ScalewayOptions['startMac']>,
  authorizedKeys: (projectID: string) => readonly string[],
): Promise<void> => {
  // Checks all ports before a Mac without a port takes one.
  const ports = await Promise.all(servers.map(previousPort));
  const outcomes = await Promise.allSettled(
    servers.map((server, index) => startMacFor(server, startMac, authorizedKeys(server.projectID), ports[index])),
  );
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
};

interface OrderOptions {
  readonly servers: Map<string, ServerRecord>;
  readonly images: readonly Image[];
  /** The default project. */
  readonly projectID: string;
  readonly startMac: ScalewayOptions['startMac'];
  readonly authorizedKeys: (projectID: string) => readonly string[];
  readonly newID: () => string;
  readonly now: () => number;
  readonly onChange: () => void;
}

/** Addresses of RFC 2544, which are unused: a server without a Mac cannot be reached. */
const unreachableAddress = (number: number): string => `198.18.${(number >> 8) & 255}.${number & 255}`;

/** Creates servers, as a user does in the console. */
export const createOrder = (options: OrderOptions): EmbeddedScaleway['order'] => {
  const { servers, images, startMac, authorizedKeys, newID, now, onChange } = options;
  let ordered = servers.size;

  const nextAddress = (): string => {
    const ip = unreachableAddress(ordered++);
    return [...servers.values()].some((server) => server.ip === ip) ? nextAddress() : ip;
  };

  /** Saves that a failed order left nothing; the caller reports the failure of the order itself. */
  const saveRemoval = (): void => {
    try {
      onChange();
    } catch {
      // The next change saves everything.
    }
  };

  return async ({ zone, name, type = 'M2-L', family, projectID = options.projectID }) => {
    if (!zones.includes(zone)) throw new Error(`Scaleway has no Macs in ${zone}, only in ${zones.join(' and ')}`);
    const ofFamily = images.filter((image) => family === undefined || image.family === family);
    const image = defaultImage(ofFamily, type) ?? ofFamily.find((each) => each.serverTypes.includes(type));
    if (image === undefined) throw new Error(`no image of ${family ?? 'any family'} can be installed on ${type}`);
    // Visible in the API from now on, as `starting`: otherwise early readers would not see it.
    const server: ServerRecord = {
      id: newID(),
      zone,
      name,
      type,
      status: 'starting',
      os: { ...image },
      installs: 0,
      mac: undefined,
      ip: nextAddress(),
      projectID,
      createdAt: now(),
      updatedAt: now(),
      delivered: false,
      password: newPassword(),
    };
    servers.set(server.id, server);
    try {
      onChange();
      if (startMac) await startMacFor(server, startMac, authorizedKeys(projectID));
      deliver(server);
      onChange();
    } catch (error) {
      servers.delete(server.id);
      await server.mac?.stop();
      saveRemoval();
      throw error;
    }
    return server;
  };
};

/** The Mac of the server is ready. */
export const deliver = (server: ServerRecord): void => {
  server.status = 'ready';
  server.delivered = true;
};
