import type { EmbeddedScaleway, ScalewayOptions } from '../scaleway.ts';
import { zones } from '../requests/answer-request.ts';
import { defaultImage, type Image } from './images.ts';
import { newPassword } from './new-password.ts';
import type { ServerRecord } from './server-record.ts';
import { startMacOf } from './start-macs-again.ts';

export interface OrderOptions {
  readonly servers: Map<string, ServerRecord>;
  readonly images: readonly Image[];
  /** Whose it is unless told. */
  readonly projectID: string;
  readonly startMac: ScalewayOptions['startMac'];
  readonly authorizedKeys: (projectID: string) => readonly string[];
  readonly newID: () => string;
  readonly now: () => number;
  readonly changed: () => void;
}

/** Addresses of RFC 2544, where nobody is: a server without a Mac cannot be reached. */
const nowhere = (number: number): string => `198.18.${(number >> 8) & 255}.${number & 255}`;

/** Makes servers, as a person in the console does. */
export const createOrder = (options: OrderOptions): EmbeddedScaleway['order'] => {
  const { servers, images, startMac, authorizedKeys, newID, now, changed } = options;
  let ordered = servers.size;

  const nextAddress = (): string => {
    const ip = nowhere(ordered++);
    return [...servers.values()].some((server) => server.ip === ip) ? nextAddress() : ip;
  };

  /** Nothing of an order that failed is left, also in what is kept; the failure itself is what is told. */
  const forget = (): void => {
    try {
      changed();
    } catch {
      // The next change keeps all.
    }
  };

  return async ({ zone, name, type = 'M2-L', family, projectID = options.projectID }) => {
    if (!zones.includes(zone)) throw new Error(`Scaleway has no Macs in ${zone}, only in ${zones.join(' and ')}`);
    const ofFamily = images.filter((image) => family === undefined || image.family === family);
    const image = defaultImage(ofFamily, type) ?? ofFamily.find((each) => each.serverTypes.includes(type));
    if (image === undefined) throw new Error(`no image of ${family ?? 'any family'} can be installed on ${type}`);
    // Seen by the API from now on, as `starting`: that it shows only once it is there would hide it from those who look too early.
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
      changed();
      if (startMac) await startMacOf(server, startMac, authorizedKeys(projectID));
      deliver(server);
      changed();
    } catch (error) {
      servers.delete(server.id);
      await server.mac?.stop();
      forget();
      throw error;
    }
    return server;
  };
};

/** Its Mac is there. */
export const deliver = (server: ServerRecord): void => {
  server.status = 'ready';
  server.delivered = true;
};
