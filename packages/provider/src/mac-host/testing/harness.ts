import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { kindNames, machine, type MachineSpec, type MacHost, macHost, type MacHostSpec } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  createClient,
  createInformer,
  createLogger,
  customResourceDefinitions,
  type Gate,
  getCondition,
  ignoreNotFound,
  type Informer,
  inProcessTransport,
  type KubeObject,
  type Live,
  namespaces,
  nodes as nodesOfCluster,
  NotLeadingError,
  type Resource,
  type Transport,
} from '@tartan/kube';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { createHostPool, type HostPool, type WaitReport } from '@tartan/scaleway';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { type SimulatedScaleway, startScaleway } from '@tartan/sim-scaleway';
import { type CoreCluster, coreClusters as clustersOf } from '../../core/kinds.ts';
import { createInventory } from '../../inventory/controller.ts';
import { createServerCache, type ServerCache } from '../../inventory/server-cache.ts';
import { indexesOf } from '../../indexes.ts';
import { createMacHostController } from '../controller.ts';

export const coreClusters = clustersOf('v1beta2');
export const zone = 'fr-par-1';
export const namespace = 'fleet';
const poolPrefix = 'tuist-pool-';
const projectID = '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87';
const secretKey = '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13';
const ours: readonly string[] = [kindNames.machine.kind, kindNames.macHost.kind];

/** One gate for all managers. */
interface TestGate extends Gate {
  isOpen: boolean;
  remainingMs: number;
}

type Send = Transport['send'];

export interface RunningManager {
  readonly serverCache: ServerCache;
  readonly macHosts: Informer<MacHost>;
  stop(): Promise<void>;
  isDead(): boolean;
}

interface StartOptions {
  /** Allowed pools besides the default. */
  readonly pools?: readonly string[];
  readonly inventory?: boolean | 'blind to machines';
  /** After this many write requests it receives no response and does nothing more, as if it were killed. */
  readonly dieAfter?: number;
  /** Requests per second at Scaleway. Default: unlimited. */
  readonly rate?: number;
  /** Its cache of Clusters, in place of the real one. */
  readonly clusters?: Pick<Informer<CoreCluster>, 'get' | 'list' | 'subscribe'>;
  readonly wrapPool?: (pool: HostPool) => HostPool;
}

/** Scaleway over HTTP, an embedded Kubernetes with our CRDs, and managers that can be started and stopped, on virtual time. */
export const createHarness = async (t: TestContext) => {
  const clock: ManualClock = manualClock();
  const kubernetes = await createKubernetes({ clock, controllers: false });
  t.after(() => kubernetes.stop());
  const scaleway: SimulatedScaleway = await startScaleway({ clock, pace: 1, projectID, secretKey });
  t.after(() => scaleway.stop());

  let underWay = 0;
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    underWay += 1;
    try {
      return await work();
    } finally {
      underWay -= 1;
    }
  };
  /** Waits until only timers are left. */
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 60; quiet += 1) {
      await setImmediate();
      if (underWay > 0) quiet = 0;
    }
  };

  const server = inProcessTransport(kubernetes.handle, {
    user: { commonName: 'admin', organizations: ['system:masters'] },
  });
  /** Wraps the requests of our programs to the server. */
  let between: (send: Send) => Send = (send) => send;
  const transport: Transport = { ...server, send: (request) => counted(() => between(server.send)(request)) };
  const client = createClient(transport, { clock });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const definition of coreDefinitions()) await client.create(customResourceDefinitions, definition);
  for (const definition of definitions)
    if (ours.includes(definition.spec.names.kind)) await client.create(customResourceDefinitions, definition);

  /** Which calls to Scaleway fail to connect, and those that did. */
  let silence: RegExp | undefined;
  const silenced: string[] = [];

  /** Waits for the rate limit, in order. */
  const waits: WaitReport[] = [];

  /** The client and the pool of a process that may die. */
  const createCrashingClients = (dieAfter = Infinity, rate = 1_000_000) => {
    let changes = 0;
    const unlessDead = async <T>(method: string | undefined, send: () => Promise<T>): Promise<T> => {
      const isAlive = (): void => {
        if (changes >= dieAfter) throw new Error('this process was killed');
      };
      isAlive();
      const answer = await counted(send);
      if (method !== undefined && method !== 'GET') changes += 1;
      isAlive();
      return answer;
    };
    const ownTransport: Transport = {
      ...server,
      send: (request) => unlessDead(request.method, () => between(server.send)(request)),
    };
    const pool: HostPool = createHostPool({
      accessKey: 'SCWABCDEFGHIJKLMNOPQ',
      secretKey,
      projectID,
      apiURL: scaleway.url,
      clock,
      random: () => 0.5,
      rate,
      onWait: (report) => void waits.push(report),
      maxAttempts: dieAfter === Infinity ? 4 : 1,
      fetch: (input, init) =>
        unlessDead(init?.method, async () => {
          const { pathname } = new URL(input instanceof Request ? input.url : input);
          if (silence?.test(pathname) === true) {
            silenced.push(pathname);
            throw new TypeError('fetch failed');
          }
          const answer = await fetch(input, init);
          const body = await answer.arrayBuffer();
          const { status, headers } = answer;
          return new Response(body.byteLength > 0 ? body : null, { status, headers });
        }),
    });
    return { client: createClient(ownTransport, { clock }), pool, isDead: () => changes >= dieAfter };
  };
  const { pool } = createCrashingClients();

  const gate: TestGate = {
    isOpen: true,
    remainingMs: 10_000,
    pass: () => {
      if (!gate.isOpen) throw new NotLeadingError('test', 'the test says so');
      return { remainingMs: gate.remainingMs };
    },
  };
  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(line), clock, level: 'debug' });
  const eventReasons: string[] = [];
  const listFailures: string[] = [];
  let suffixes = 0;
  let reported = 0;

  /** A manager with only its host controllers. */
  const start = async (more: StartOptions = {}): Promise<RunningManager> => {
    const { client, pool: directPool, isDead } = createCrashingClients(more.dieAfter, more.rate);
    const pool = more.wrapPool?.(directPool) ?? directPool;
    const stopping = new AbortController();
    const running: Promise<void>[] = [];
    const follow = async <T extends KubeObject>(resource: Resource<T>): Promise<Informer<T>> => {
      const cache = createInformer({ client, resource, indexes: indexesOf(resource), clock, random: () => 0.5, log });
      running.push(cache.run(stopping.signal));
      await cache.synced;
      return cache;
    };
    const machines = await follow(machine.resource);
    const macHosts = await follow(macHost.resource);
    const nodes = await follow(nodesOfCluster);
    const clusters = more.clusters ?? (await follow(coreClusters));
    const serverCache = createServerCache({ clock });
    const parts = {
      client,
      pool,
      serverCache,
      machines,
      macHosts,
      nodes,
      clusters,
      coreClusters,
      clock,
      log,
      defaultPoolPrefix: poolPrefix,
      allowedPoolPrefixes: [poolPrefix, ...(more.pools ?? [])],
      machineNamespaces: [namespace],
    };
    const controllers = [
      createMacHostController({
        ...parts,
        gate,
        random: () => (suffixes += 1) / 1000,
        events: { event: (_, { reason }) => void eventReasons.push(reason) },
        judgeStranded: ({ hadHolder }) => ({
          reason: 'ReportOnly',
          message: hadHolder ? 'Its holder is gone.' : 'Nobody knows it.',
        }),
      }),
      ...(more.inventory === false
        ? []
        : [
            createInventory({
              ...parts,
              ...(more.inventory === 'blind to machines'
                ? {
                    machines: {
                      get: () => undefined,
                      list: () => [],
                      byIndex: () => [],
                      countByIndex: () => new Map(),
                      subscribe: () => () => {},
                    },
                  }
                : {}),
              zones: [zone],
              listFailed: (failed) => void listFailures.push(failed),
            }),
          ]),
    ];
    for (const controller of controllers) running.push(controller.run(stopping.signal));
    const stop = async (): Promise<void> => {
      stopping.abort();
      await Promise.all(running);
    };
    t.after(stop);
    await settle();
    return { serverCache, macHosts, stop, isDead };
  };

  const host = (id: string): Promise<Live<MacHost>> => client.get(macHost.resource, { name: id });
  const patchSpec = async (id: string, spec: object): Promise<void> => {
    await client.patch(macHost.resource, { name: id }, { type: 'merge', body: { spec } });
  };

  return {
    clock,
    client,
    scaleway,
    pool,
    gate,
    lines,
    eventReasons,
    listFailures,
    settle,
    start,
    interpose: (wrap: (send: Send) => Send) => {
      between = wrap;
    },
    silenced,
    waits,
    failConnections: (match: RegExp | undefined) => {
      silence = match;
    },
    /** In steps, so that timers fire at their time. */
    pass: async (milliseconds: number, step = 10_000) => {
      for (let passed = 0; passed < milliseconds; passed += step) {
        await settle();
        clock.advance(Math.min(step, milliseconds - passed));
      }
      await settle();
    },
    host,
    hosts: async () => (await client.list(macHost.resource)).items,
    hostIfAny: (id: string) => ignoreNotFound(host(id)),
    /** `Named` → `NameMatches` */
    reason: async (id: string, type: string) => getCondition((await host(id)).status?.conditions, type)?.reason,
    /** Orders a Mac at Scaleway, and advances the clock a little. */
    order: async (name: string, more: { type?: string; family?: string } = {}) => {
      const ordered = await scaleway.order({ zone, name, ...more });
      clock.advance(1);
      return ordered;
    },
    machine: async (name: string, serverID?: string, spec: Partial<MachineSpec> = {}) => {
      const made = await client.create(machine.resource, machine.make({ metadata: { name, namespace }, spec }));
      if (serverID === undefined) return made;
      const body = { status: { serverID } };
      return client.patch(machine.resource, { name, namespace }, { type: 'merge', body }, { subresource: 'status' });
    },
    /** Marks a machine as provisioned. */
    provision: (name: string) =>
      client.patch(
        machine.resource,
        { name, namespace },
        { type: 'merge', body: { status: { initialization: { provisioned: true } } } },
        { subresource: 'status' },
      ),
    deleteMachine: (name: string) => client.delete(machine.resource, { name, namespace }),
    patchSpec,
    /** As a machine claims a Mac. */
    take: (id: string, { metadata: { name, uid } }: { metadata: { name: string; uid: string } }) =>
      patchSpec(id, { consumerRef: { ...kindOfMachine, namespace, name, uid }, poolPrefix }),
    /** As a machine, or the sweep, releases a Mac. */
    release: (id: string, more: Partial<NonNullable<MacHostSpec['release']>> = {}) =>
      patchSpec(id, {
        consumerRef: null,
        release: {
          poolPrefix,
          family: 'tahoe',
          reason: 'MachineDeleted',
          requestedAt: new Date(clock.now()).toISOString(),
          ...more,
        },
      }),
    /** The calls since the last time, without lists of zones: `PATCH`, `POST reinstall`. */
    calls: () => {
      const made = scaleway.requests.slice(reported).map((request) => {
        const [method = '', target = ''] = request.split(' ');
        const [path = ''] = target.split('?');
        return path.endsWith('/servers') ? '' : [method, /(reinstall|reboot|os)$/.exec(path)?.[0]].join(' ').trim();
      });
      reported = scaleway.requests.length;
      return made.filter((call) => call !== '');
    },
  };
};

const kindOfMachine = {
  apiVersion: `${kindNames.machine.group}/${kindNames.machine.version}`,
  kind: kindNames.machine.kind,
};
