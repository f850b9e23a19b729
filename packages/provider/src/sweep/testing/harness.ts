import type { TestContext } from 'node:test';
import { kindNames, machine, macHost } from '@tartan/api';
import {
  type Client,
  createClient,
  createEventRecorder,
  createInformer,
  createMetrics,
  customResourceDefinitions,
  events,
  type Gate,
  type Transport,
} from '@tartan/kube';
import { settle } from '@tartan/kube/testing';
import { type HostPool, ScalewayError, type Server } from '@tartan/scaleway';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { fixturesFor, namespace, startKubernetes } from '../../claim/testing/harness.ts';
import { coreClusters } from '../../core/kinds.ts';
import { recordingLog } from '../../identity/testing/recording.ts';
import { createSweep } from '../controller.ts';
import { indexesOf } from '../../indexes.ts';
import type { ReclaimPolicy } from '../decide.ts';
import { createSweepMetrics } from '../metrics.ts';

type Send = Transport['send'];

const clusters = coreClusters('v1beta2');

export const reclaimingPolicy: ReclaimPolicy = { claimNamePrefix: 'tuist-tuist-', defaultPoolPrefix: 'tuist-pool-' };
const intervalMs = 15 * 60_000;

const aServer: Server = {
  id: '',
  zone: '',
  name: '',
  type: 'M2-L',
  status: 'ready',
  delivered: true,
  os: undefined,
  ip: '198.18.0.1',
  sshUsername: 'm1',
  password: undefined,
  createdAt: '2026-01-01T00:00:00Z',
};

/** The sweep on an embedded Kubernetes, on virtual time. By default a server's name at Scaleway is that in its MacHost. */
export const createHarness = async (t: TestContext) => {
  const { transport, clock, close } = await startKubernetes();
  t.after(close);
  const client = createClient(transport, { clock });
  const fixtures = fixturesFor(client);
  let between: (send: Send) => Send = (send) => send;
  const theirs = createClient({ ...transport, send: (request) => between(transport.send)(request) }, { clock });
  const names = new Map<string, string>();
  const gone = new Set<string>();
  let beforeLook: () => Promise<void> = async () => {};
  const pool: Pick<HostPool, 'getServer'> = {
    getServer: async (zone, id) => {
      await beforeLook();
      if (gone.has(id)) throw new ScalewayError('There is no such server.', { kind: 'not found' });
      const name = names.get(id) ?? (await fixtures.host(id)).status?.name ?? '';
      return { ...aServer, id, zone, name };
    },
  };
  let gate: Gate = { pass: () => ({ remainingMs: 10_000 }) };
  const metrics = createMetrics({ clock });
  const figures = createSweepMetrics(metrics.registry);
  const { log, lines } = recordingLog();
  const figure = async (name: string): Promise<number | undefined> => {
    const found = new RegExp(`^${name} (\\S+)$`, 'm').exec((await metrics.text()).body)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  return {
    client,
    clock,
    fixtures,
    names,
    gone,
    lines,
    settle,
    interpose: (wrap: (send: Send) => Send) => {
      between = wrap;
    },
    /** Runs right before each read of a server. */
    meanwhile: (act: () => Promise<void>) => {
      beforeLook = act;
    },
    closeGate: (error: Error) => {
      gate = {
        pass: () => {
          throw error;
        },
      };
    },
    addStranded: (
      name: string,
      serverName: string,
      more: { spec?: object; since?: string; osFamily?: string } = {},
    ) => {
      const { spec = {}, ...status } = more;
      return fixtures.addHost(name, spec, {
        since: '2026-05-31T00:00:00Z',
        ...status,
        state: 'stranded',
        name: serverName,
      });
    },
    /** A Cluster whose machines are Macs. */
    addCluster: async () => {
      for (const definition of coreDefinitions()) await client.create(customResourceDefinitions, definition);
      const infrastructureRef = { apiGroup: kindNames.cluster.group, kind: kindNames.cluster.kind, name: 'macs' };
      await client.create(clusters, {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Cluster',
        metadata: { name: 'macs', namespace },
        spec: { infrastructureRef },
      });
    },
    setPaused: (paused: boolean) =>
      client.patch(clusters, { namespace, name: 'macs' }, { type: 'merge', body: { spec: { paused } } }),
    annotate: (host: string, notes: Record<string, string | null>) =>
      client.patch(macHost.resource, { name: host }, { type: 'merge', body: { metadata: { annotations: notes } } }),
    addMachine: fixtures.addMachine,
    deleteMachine: (name: string) => client.delete(machine.resource, { namespace, name }),
    releaseOf: async (name: string) => (await fixtures.host(name)).spec.release,
    /** Advances the clock by one interval. */
    nextRound: async () => {
      await settle();
      clock.advance(intervalMs);
      await settle();
    },
    eventsOf: async (name: string) =>
      (await client.list(events)).items
        .filter((event) => event.involvedObject.name === name)
        .map(({ reason, message, type, count }) => ({ reason, message, type, count })),
    stranded: () => figure('scaleway_orphan_servers'),
    reclaimed: () => figure('scaleway_orphan_servers_reclaimed_total'),
    start: (policy: ReclaimPolicy = reclaimingPolicy) =>
      startProcess(theirs, { clock, log, pool, gate: { pass: () => gate.pass() }, figures, policy }, settle),
  };
};

const startProcess = async (
  client: Client,
  parts: Pick<Parameters<typeof createSweep>[0], 'clock' | 'log' | 'pool' | 'gate' | 'figures' | 'policy'>,
  settled: () => Promise<void>,
) => {
  const { clock, log } = parts;
  const macHosts = createInformer({
    client,
    resource: macHost.resource,
    indexes: indexesOf(macHost.resource),
    clock,
    log,
    random: () => 0.5,
  });
  const recorder = createEventRecorder({ client, clock, log, component: 'sweep', instance: 'test' });
  const sweep = createSweep({ ...parts, client, coreClusters: clusters, macHosts, events: recorder, intervalMs });
  const stopping = new AbortController();
  const running = [macHosts.run(stopping.signal)];
  await macHosts.synced;
  running.push(sweep.run(stopping.signal));
  await settled();
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
};
