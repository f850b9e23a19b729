import { randomUUID } from 'node:crypto';
import { systemClock } from '@tartan/kube/clock';
import { answerFetch } from './http/answer-fetch.ts';
import type { Reply } from './http/serve.ts';
import { takeFault } from './http/take-fault.ts';
import type { Key } from './keys/key.ts';
import { answerRequest, zones } from './requests/answer-request.ts';
import { createRateLimit } from './requests/rate-limit.ts';
import { tooManyRequests } from './requests/refusals.ts';
import type { ApiRequest, Change } from './requests/request.ts';
import type { World } from './requests/world.ts';
import type { EmbeddedScaleway, ScalewayFaults, ScalewayOptions } from './scaleway.ts';
import { defaultImage, standardImages } from './servers/images.ts';
import { createLife } from './servers/life.ts';
import { newPassword } from './servers/new-password.ts';
import type { ServerRecord } from './servers/server-record.ts';

const noFaults = (): ScalewayFaults => ({
  calls: [],
  renameWhileReinstalling: 'accepted',
  reinstallFails: new Set(),
  reinstallDoesNotWipe: new Set(),
  password: 'told once',
  goneServer: 'not found',
});

const usual = {
  projectID: '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87',
  secretKey: '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13',
  permissions: ['AppleSiliconFullAccess', 'SSHKeysFullAccess'],
};
const organizationID = '0c4b3a29-1817-4605-9f3e-2d1c0b9a8f7e';

/** Addresses of RFC 2544, where nobody is: a server without a Mac cannot be reached. */
const nowhere = (number: number): string => `198.18.${(number >> 8) & 255}.${number & 255}`;

/** Scaleway without sockets: requests are answered by a function, in this very process. */
export const createScaleway = (options: Omit<ScalewayOptions, 'port'> = {}): EmbeddedScaleway => {
  const { clock = systemClock, pace = 0.01, scope = 'project', rateLimit, saved, newID = randomUUID } = options;
  const { projectID = usual.projectID, secretKey = usual.secretKey, permissions = usual.permissions } = options;
  const faults = noFaults();
  const images = standardImages();
  const servers = new Map<string, ServerRecord>(saved?.servers.map((server) => [server.id, structuredClone(server)]));
  const keys = new Map<string, Key>(saved?.keys.map((key) => [key.id, { ...key }]));
  const requests: string[] = [];
  const limit = createRateLimit(clock, rateLimit);
  const orders = new Set<Promise<unknown>>();
  let ordered = servers.size;
  let isStopped = false;

  const authorizedKeys = (project: string): string[] =>
    [...keys.values()].filter((key) => key.projectID === project).map((key) => key.publicKey);
  const life = createLife({ clock, pace, faults, authorizedKeys });

  const world = (): World => ({
    now: clock.now(),
    pace,
    organizationID,
    projectID: scope === 'project' ? projectID : undefined,
    secretKey,
    permissions,
    servers,
    images,
    keys,
    faults,
    newID,
  });

  const apply = (change: Change): void => {
    if (change.kind === 'create key') {
      keys.set(change.key.id, change.key);
      return;
    }
    if (change.kind === 'delete key') {
      keys.delete(change.id);
      return;
    }
    const server = servers.get(change.id);
    if (server === undefined) return;
    switch (change.kind) {
      case 'rename':
        server.name = change.name;
        server.updatedAt = clock.now();
        return;
      case 'reboot':
        return life.reboot(server);
      case 'reinstall':
        return life.reinstall(server, change.image);
      case 'delete server':
        servers.delete(server.id);
        return life.remove(server);
    }
  };

  const reply = (request: ApiRequest, target: string): Reply => {
    requests.push(`${request.method} ${target}`);
    const fault = takeFault(faults.calls, `${request.method} ${request.path}`);
    if (fault === 'hang') return 'never answer';
    if (fault !== undefined && fault !== 'lost') return { send: fault };
    const wait = limit.count();
    if (wait !== undefined && rateLimit !== undefined) {
      return { send: tooManyRequests(rateLimit, clock.now() + wait, clock.now()) };
    }
    const { answer, change } = answerRequest(world(), request);
    if (change) apply(change);
    return fault === 'lost' ? 'cut the connection' : { send: answer };
  };

  const order: EmbeddedScaleway['order'] = async ({ zone, name, type = 'M2-L', family, projectID: project }) => {
    if (isStopped) throw new Error('this Scaleway is stopped: nothing can be ordered');
    if (!zones.includes(zone)) throw new Error(`Scaleway has no Macs in ${zone}, only in ${zones.join(' and ')}`);
    const ofFamily = images.filter((image) => family === undefined || image.family === family);
    const image = defaultImage(ofFamily, type) ?? ofFamily.find((each) => each.serverTypes.includes(type));
    if (image === undefined) throw new Error(`no image of ${family ?? 'any family'} can be installed on ${type}`);
    const [id, now, password] = [newID(), clock.now(), newPassword()];
    const owner = project ?? projectID;
    const number = ordered++;
    // Seen by the API from now on, as `starting`: that it shows only once it is there would hide it from those who look too early.
    const server: ServerRecord = {
      id,
      zone,
      name,
      type,
      status: 'starting',
      os: { ...image },
      installs: 0,
      mac: undefined,
      ip: nowhere(number),
      projectID: owner,
      createdAt: now,
      updatedAt: now,
      delivered: false,
      password,
    };
    servers.set(id, server);
    try {
      server.mac = await options.startMac?.({ id, password, authorizedKeys: authorizedKeys(owner) });
      if (server.mac) server.ip = `${server.mac.address.host}:${server.mac.address.port}`;
    } catch (error) {
      servers.delete(id);
      throw error;
    }
    server.status = 'ready';
    server.delivered = true;
    return server;
  };

  return {
    reply,
    fetch: answerFetch(reply),
    faults,
    images,
    requests,
    order: (wanted) => {
      const placed = order(wanted);
      orders.add(placed);
      const forget = (): unknown => orders.delete(placed);
      placed.then(forget, forget);
      return placed;
    },
    servers: () => [...servers.values()],
    keys: () => [...keys.values()],
    save: () => ({
      servers: [...servers.values()].map((server) => structuredClone({ ...server, mac: undefined })),
      keys: [...keys.values()],
    }),
    stop: async () => {
      isStopped = true;
      // A Mac that is still being started is stopped once it is there.
      await Promise.allSettled(orders);
      await life.end(servers.values());
    },
  };
};
