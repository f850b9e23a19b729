import { randomUUID } from 'node:crypto';
import { systemClock } from '@tartan/kube/clock';
import { answerFetch } from './http/answer-fetch.ts';
import type { Reply } from './http/serve.ts';
import { takeFault } from './http/take-fault.ts';
import type { Key } from './keys/key.ts';
import { answerRequest } from './requests/answer-request.ts';
import { createRateLimit } from './requests/rate-limit.ts';
import { notKept, tooManyRequests, unavailable } from './requests/refusals.ts';
import type { ApiRequest, Change } from './requests/request.ts';
import type { World } from './requests/world.ts';
import type { EmbeddedScaleway, ScalewayCopy, ScalewayFaults, ScalewayOptions } from './scaleway.ts';
import { standardImages } from './servers/images.ts';
import { createLife } from './servers/life.ts';
import { createOrder, deliver } from './servers/order.ts';
import type { ServerRecord } from './servers/server-record.ts';
import { startMacsAgain } from './servers/start-macs-again.ts';

const noFaults = (): ScalewayFaults => ({
  calls: [],
  failsEvery: undefined,
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

/** Scaleway without sockets: requests are answered by a function, in this very process. `keep` gets a copy after each change. */
export const createScaleway = (
  options: Omit<ScalewayOptions, 'port' | 'data'> = {},
  keep?: (copy: ScalewayCopy) => void,
): EmbeddedScaleway => {
  const { clock = systemClock, pace = 0.01, scope = 'project', rateLimit, saved, newID = randomUUID } = options;
  const { projectID = usual.projectID, secretKey = usual.secretKey, permissions = usual.permissions } = options;
  const faults = noFaults();
  const images = standardImages();
  const servers = new Map<string, ServerRecord>(saved?.servers.map((server) => [server.id, structuredClone(server)]));
  const keys = new Map<string, Key>(saved?.keys.map((key) => [key.id, { ...key }]));
  const requests: string[] = [];
  const limit = createRateLimit(clock, rateLimit);
  const orders = new Set<Promise<unknown>>();
  let isStopped = false;

  const authorizedKeys = (project: string): string[] =>
    [...keys.values()].filter((key) => key.projectID === project).map((key) => key.publicKey);
  const save = (): ScalewayCopy => ({
    servers: [...servers.values()].map((server) => structuredClone({ ...server, mac: undefined })),
    keys: [...keys.values()],
  });
  const changed = (): void => keep?.(save());
  const life = createLife({
    clock,
    pace,
    faults,
    authorizedKeys,
    changed: () => {
      try {
        changed();
      } catch {
        // Nobody asked who could be told. The next change keeps all, or the end says why not.
      }
    },
  });

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
    if (faults.failsEvery !== undefined && requests.length % faults.failsEvery === 0) return { send: unavailable() };
    const wait = limit.count();
    if (wait !== undefined && rateLimit !== undefined) {
      return { send: tooManyRequests(rateLimit, clock.now() + wait, clock.now()) };
    }
    const { answer, change } = answerRequest(world(), request);
    if (change) {
      apply(change);
      try {
        changed();
      } catch {
        return { send: notKept() };
      }
    }
    return fault === 'lost' ? 'cut the connection' : { send: answer };
  };

  const order = createOrder({
    servers,
    images,
    projectID,
    startMac: options.startMac,
    authorizedKeys,
    newID,
    now: () => clock.now(),
    changed,
  });

  return {
    reply,
    fetch: answerFetch(reply),
    faults,
    images,
    requests,
    order: (wanted) => {
      if (isStopped) return Promise.reject(new Error('this Scaleway is stopped: nothing can be ordered'));
      const placed = order(wanted);
      orders.add(placed);
      const forget = (): unknown => orders.delete(placed);
      placed.then(forget, forget);
      return placed;
    },
    servers: () => [...servers.values()],
    keys: () => [...keys.values()],
    save,
    resume: async () => {
      const found = [...servers.values()];
      if (options.startMac) await startMacsAgain(found, options.startMac, authorizedKeys);
      for (const server of found) {
        // Ordered, and not delivered yet.
        if (server.status === 'starting') deliver(server);
        life.resume(server);
      }
    },
    stop: async () => {
      const isFirst = !isStopped;
      isStopped = true;
      // A Mac that is still being started is stopped once it is there.
      await Promise.allSettled(orders);
      try {
        // What a person in the console did since the last change. Only once: another one may have the folder afterwards.
        if (isFirst) changed();
      } finally {
        await life.end(servers.values());
      }
    },
  };
};
