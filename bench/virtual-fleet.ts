import { machine, serverNames } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  type Client,
  createClient,
  createInformer,
  createLogger,
  createRedactor,
  customResourceDefinitions,
  type Informer,
  inProcessTransport,
  namespaces,
} from '@tartan/kube';
import { sleep } from '@tartan/kube/clock';
import { numbersFrom, orderedIDs, type VirtualTime, virtualTime } from '@tartan/kube/testing';
import { createProvider, createProviderMetrics, type ProviderDeps } from '@tartan/provider';
import { createHostPool } from '@tartan/scaleway';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { createScaleway } from '@tartan/sim-scaleway';
import { clusterMember } from '../packages/provider/src/core/testing/cluster-member.ts';
import { namespace, optionsWith, settings } from '../packages/provider/src/manager/testing/harness.ts';
import { playMacs } from './played-macs.ts';

type Machine = NonNullable<(typeof machine.resource)['ofType']>;
type Kubernetes = Awaited<ReturnType<typeof createKubernetes>>;

export interface VirtualFleetOptions {
  readonly hosts: number;
  /** How long a push takes. */
  readonly pushMs: number;
  /** How long each request of the manager to the API server takes. Default: no time. */
  readonly requestMs?: number;
  /** What the agent of a Mac does after the first push. */
  readonly join?: (fleet: { kubernetes: Kubernetes; client: Client; time: VirtualTime }) => Join;
}

/** Makes a Mac a member of the cluster with the token of that id. */
type Join = (nodeName: string, tokenID: string) => Promise<void>;

/** A manager, Kubernetes and Scaleway in this process, on virtual time. Scaleway has its real speed, and all rate limits apply. */
export interface VirtualFleet {
  readonly time: VirtualTime;
  readonly client: Client;
  readonly scaleway: ReturnType<typeof createScaleway>;
  readonly machines: Informer<Machine>;
  /** Requests of the manager to the API server, without watches. */
  readonly requests: string[];
  /** For each controller, the longest time for which a key waited for a worker, in seconds. */
  readonly longestWaits: ReadonlyMap<string, number>;
  createMachine(name: string): Promise<void>;
  stop(): Promise<void>;
}

const zone = 'fr-par-1';
const project = {
  projectID: '9a1f7c52-0d7e-4a2b-8f43-3c2d1b0a9e87',
  secretKey: '5e8d2c1b-7f60-4c39-9b1a-2f4e6d8c0a13',
  accessKey: 'SCWTARTANSIMULATED00',
};

/**
 * Measures how long keys wait for a worker: as `workqueue_queue_duration_seconds`, but without the time in which the key waits for its own
 * pass to end.
 */
const measureWaits = (
  time: VirtualTime,
  longest: Map<string, number>,
  metrics: ReturnType<typeof createProviderMetrics>,
) => ({
  ...metrics,
  queue: (name: string): ReturnType<typeof metrics.queue> => {
    const observer = metrics.queue(name);
    const since = new Map<string, number>();
    return {
      ...observer,
      added: (key) => {
        since.set(key, time.now());
        observer.added(key);
      },
      taken: (key) => {
        const seconds = (time.now() - (since.get(key) ?? time.now())) / 1000;
        longest.set(name, Math.max(longest.get(name) ?? 0, seconds));
        since.delete(key);
        observer.taken(key);
      },
      finished: (key) => {
        if (since.has(key)) since.set(key, time.now());
        observer.finished(key);
      },
    };
  },
});

export const startVirtualFleet = async (options: VirtualFleetOptions): Promise<VirtualFleet> => {
  const { hosts, pushMs, requestMs = 0 } = options;
  const time = virtualTime(Date.parse('2026-01-01T00:00:00Z'));
  const kubernetes = await createKubernetes({ clock: time, controllers: false });
  const stops: (() => unknown)[] = [() => kubernetes.stop()];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).toReversed()) await each();
  };
  try {
    const connection = inProcessTransport(kubernetes.handle, {
      user: { commonName: 'admin', organizations: ['system:masters'] },
    });
    const transport: typeof connection = {
      ...connection,
      send: (request) => time.during(() => connection.send(request)),
    };
    const requests: string[] = [];
    const managerTransport: typeof connection = {
      ...transport,
      send: async (request) => {
        const isWatch = request.path.includes('watch=');
        if (!isWatch) requests.push(`${request.method} ${request.path.split('?')[0]}`);
        if (!isWatch && requestMs > 0) await sleep(time, requestMs, request.signal);
        return transport.send(request);
      },
    };
    const client = createClient(transport, { clock: time });
    for (const name of [namespace, 'kube-system', 'kube-public', 'kube-node-lease'])
      await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    for (const definition of [...definitions, ...coreDefinitions()])
      await client.create(customResourceDefinitions, definition);
    const scaleway = createScaleway({ clock: time, pace: 1, ...project, newID: orderedIDs(9) });
    stops.push(() => scaleway.stop());
    for (let index = 0; index < hosts; index += 1) {
      const suffix = index.toString(16).padStart(8, '0');
      await scaleway.order({ zone, name: `${serverNames.defaultPoolPrefix}${suffix}` });
    }
    const random = numbersFrom(1);
    const redactor = createRedactor();
    const log = createLogger({
      level: 'error',
      write: (line) => process.stderr.write(line),
      clock: time,
      redact: redactor,
    });
    const ask: typeof fetch = (input, init) => time.during(() => scaleway.fetch(input, init));
    const longestWaits = new Map<string, number>();
    const hostWork: NonNullable<ProviderDeps['hostWork']> = playMacs({
      client,
      clock: time,
      pushMs,
      ...(options.join && { join: options.join({ kubernetes, client, time }) }),
    });
    const provider = createProvider({
      options: optionsWith(
        '--metrics-bind-address=0',
        '--health-probe-bind-address=0',
        '--leader-elect=false',
        `--default-adopt-pool-prefix=${serverNames.defaultPoolPrefix}`,
      ),
      transport: managerTransport,
      apiHost: 'in-process',
      ca: 'PEM',
      pool: createHostPool({ ...project, apiURL: 'http://127.0.0.1:1', fetch: ask, clock: time, random }),
      settings,
      hostWork,
      clock: time,
      random,
      log,
      redactor,
      identity: 'bench',
      metrics: measureWaits(time, longestWaits, createProviderMetrics({ clock: time })),
    });
    const over = new AbortController();
    const ended = provider.run(over.signal);
    const machines = createInformer({ client, resource: machine.resource, clock: time, random, log });
    const watching = machines.run(over.signal);
    stops.push(async () => {
      over.abort();
      await time.pass(60_000);
      await Promise.all([ended, watching]);
    });
    return {
      time,
      client,
      scaleway,
      machines,
      requests,
      longestWaits,
      createMachine: async (name) => {
        const at = { namespace, name };
        const metadata = { ...at, ...(await clusterMember(client, at)) };
        await client.create(machine.resource, machine.make({ metadata, spec: { fleetName: 'bench' } }));
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
