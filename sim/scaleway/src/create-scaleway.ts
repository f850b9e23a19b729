import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { internalError, serviceUnavailable, tooManyRequests } from './api/errors.ts';
import type { ApiRequest, Change, Snapshot } from './api/handler.ts';
import { handleRequest } from './api/router.ts';
import type { Key } from './api/ssh-keys.ts';
import { createFetch, type Reply } from './http.ts';
import {
  type EmbeddedScaleway,
  type ScalewayFaults,
  type ScalewayOptions,
  type ScalewayState,
  takeFault,
} from './scaleway.ts';
import { standardImages } from './servers/images.ts';
import { createLifecycle } from './servers/lifecycle.ts';
import { createOrder, deliver, restartMacs } from './servers/order.ts';
import type { ServerRecord } from './servers/server-record.ts';

/** Counts requests in windows of a second. */
interface RateLimit {
  /** Counts one request. If it exceeds the limit: the milliseconds until the next window. */
  count(): number | undefined;
}

const windowMs = 1000;

const createRateLimit = (clock: Clock, quota: number | undefined): RateLimit => {
  let began = Number.NEGATIVE_INFINITY;
  let seen = 0;
  return {
    count: () => {
      if (quota === undefined) return undefined;
      const now = clock.monotonic();
      if (now - began >= windowMs) {
        began = now;
        seen = 0;
      }
      seen += 1;
      return seen > quota ? began + windowMs - now : undefined;
    },
  };
};

const noFaults = (): ScalewayFaults => ({
  calls: [],
  failsEvery: undefined,
  renameWhileReinstalling: 'accepted',
  reinstallFails: new Set(),
  reinstallDoesNotWipe: new Set(),
  password: 'shortly after the order',
  goneServer: 'not found',
});

const defaults = {
  projectID: '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87',
  secretKey: '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13',
  permissions: ['AppleSiliconFullAccess', 'SSHKeysFullAccess'],
};
const organizationID = '0c4b3a29-1817-4605-9f3e-2d1c0b9a8f7e';

/** Scaleway without sockets: a function in this process answers requests. `persist` gets a copy after each change. */
export const createScaleway = (
  options: Omit<ScalewayOptions, 'port' | 'data'> = {},
  persist?: (copy: ScalewayState) => void,
): EmbeddedScaleway => {
  const { clock = systemClock, pace = 0.01, scope = 'project', rateLimit, saved, newID = randomUUID } = options;
  const {
    projectID = defaults.projectID,
    secretKey = defaults.secretKey,
    permissions = defaults.permissions,
  } = options;
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
  const save = (): ScalewayState => ({
    servers: [...servers.values()].map((server) => structuredClone({ ...server, mac: undefined })),
    keys: [...keys.values()],
  });
  const onChange = (): void => persist?.(save());
  const lifecycle = createLifecycle({
    clock,
    pace,
    faults,
    authorizedKeys,
    onChange: () => {
      try {
        onChange();
      } catch {
        // There is no caller to report to. The next change saves everything, or the end reports the error.
      }
    },
  });

  const snapshot = (): Snapshot => ({
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
        return lifecycle.reboot(server);
      case 'reinstall':
        return lifecycle.reinstall(server, change.image);
      case 'delete server':
        servers.delete(server.id);
        return lifecycle.remove(server);
    }
  };

  const reply = (request: ApiRequest, target: string): Reply => {
    requests.push(`${request.method} ${target}`);
    const fault = takeFault(faults.calls, `${request.method} ${request.path}`);
    if (fault === 'hang') return 'hang';
    if (fault !== undefined && fault !== 'lost') return { send: fault };
    if (faults.failsEvery !== undefined && requests.length % faults.failsEvery === 0)
      return { send: serviceUnavailable() };
    const wait = limit.count();
    if (wait !== undefined && rateLimit !== undefined) {
      return { send: tooManyRequests(rateLimit, clock.now() + wait, clock.now()) };
    }
    const { answer, change } = handleRequest(snapshot(), request);
    if (change) {
      apply(change);
      try {
        onChange();
      } catch {
        return { send: internalError() };
      }
    }
    return fault === 'lost' ? 'disconnect' : { send: answer };
  };

  const order = createOrder({
    servers,
    images,
    projectID,
    startMac: options.startMac,
    authorizedKeys,
    newID,
    now: () => clock.now(),
    onChange,
  });

  return {
    reply,
    fetch: createFetch(reply),
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
      if (options.startMac) await restartMacs(found, options.startMac, authorizedKeys);
      for (const server of found) {
        // Ordered, but not delivered yet.
        if (server.status === 'starting') deliver(server);
        lifecycle.resume(server);
      }
    },
    stop: async () => {
      const isFirst = !isStopped;
      isStopped = true;
      // Wait for Macs that are still starting, so that they are stopped too.
      await Promise.allSettled(orders);
      try {
        // Saves changes from the console since the last save. Only once: later the folder may belong to another process.
        if (isFirst) onChange();
      } finally {
        await lifecycle.end(servers.values());
      }
    },
  };
};
