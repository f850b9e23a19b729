import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createKubernetes } from '@tartan/sim-kubernetes';
import type { Client } from '../client/client.ts';
import { createClient } from '../client/create-client.ts';
import { type ManualClock, manualClock } from '../clock/manual-clock.ts';
import { KubeError } from '../errors/kube-error.ts';
import { createInformer } from '../informer/create-informer.ts';
import { recordedLog } from '../informer/testing/recorded-log.ts';
import { createLeaderElection } from '../leader/election.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { defineResource, type KubeObject, nameOf } from '../objects/object.ts';
import { inProcessTransport } from '../transport/in-process-transport.ts';
import { createController } from './controller.ts';
import { createManager } from './manager.ts';
import { done, type Reconciler } from './reconcile.ts';
import { fromInformer, requestForObject } from './source.ts';
import { settle } from '../clock/testing/real-time.ts';

/** A whole controller process: it labels ConfigMaps of the embedded Kubernetes, on virtual time and without a socket. */

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}
const configMaps = defineResource<ConfigMap>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
});
const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
});

/** Labels a ConfigMap with its number of entries. */
const labelSizes =
  (client: Client, cache: { get(key: string): ConfigMap | undefined }): Reconciler =>
  async (key, signal) => {
    const configMap = cache.get(key);
    if (!configMap) return done;
    const entries = String(Object.keys(configMap.data ?? {}).length);
    if (configMap.metadata?.labels?.['entries'] === entries) return done;
    await client.patch(
      configMaps,
      nameOf(key),
      { type: 'merge', body: { metadata: { labels: { entries } } } },
      { signal },
    );
    return done;
  };

interface Process {
  metrics: Metrics;
  stop(): Promise<unknown>;
}

const startProcess = (client: Client, clock: ManualClock, identity: string): Process => {
  const { log } = recordedLog();
  const metrics = createMetrics({ clock });
  const cache = createInformer({ client, resource: configMaps, clock, random: () => 0.5, log });
  const controller = createController({
    name: 'sizes',
    reconcile: labelSizes(client, cache),
    sources: [fromInformer(cache, requestForObject)],
    workers: 2,
    clock,
    log,
    metrics,
  });
  const manager = createManager({
    caches: { configmaps: cache },
    leaderOnly: [controller],
    leaderElection: createLeaderElection({
      client,
      clock,
      random: () => 0.5,
      lease: { namespace: 'default', name: 'sizes' },
      identity,
      log,
      metrics: metrics.setLeader,
    }),
    clock,
    log,
  });
  const stopping = new AbortController();
  const running = manager.run(stopping.signal);
  return {
    metrics,
    stop: async () => {
      stopping.abort();
      await settle();
      return running;
    },
  };
};

const setUp = async (t: TestContext) => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock, controllers: false });
  t.after(() => kubernetes.stop());
  const transport = inProcessTransport(kubernetes.handle, {
    user: { commonName: 'admin', organizations: ['system:masters'] },
  });
  let outage = false;
  const client = createClient(
    {
      ...transport,
      send: (request) =>
        outage && request.method === 'PATCH'
          ? Promise.reject(new KubeError('unreachable', 'the server is away'))
          : transport.send(request),
    },
    { clock },
  );
  await client.create(namespaces, { metadata: { name: 'default' } }).catch(() => {});
  return {
    clock,
    client,
    setOutage: (away: boolean) => {
      outage = away;
    },
    pass: async (milliseconds: number) => {
      await settle(40);
      clock.advance(milliseconds);
      await settle(40);
    },
    labelOf: async (name: string) =>
      (await client.get(configMaps, { namespace: 'default', name })).metadata.labels?.['entries'],
    create: (name: string, data: Record<string, string>) =>
      client.create(configMaps, { metadata: { name, namespace: 'default' }, data }),
  };
};

const total = async (metrics: Metrics, result: string): Promise<number> => {
  const { body } = await metrics.text();
  const series = `controller_runtime_reconcile_total{controller="sizes",result="${result}"} `;
  return Number(
    body
      .split('\n')
      .find((line) => line.startsWith(series))
      ?.slice(series.length),
  );
};

test('existing, new and changed objects are labelled', async (t) => {
  const { client, clock, pass, labelOf, create } = await setUp(t);
  await create('before', { a: '1' });
  const process = startProcess(client, clock, 'one');
  await pass(0);
  assert.equal(await labelOf('before'), '1');
  await create('after', {});
  await pass(0);
  assert.equal(await labelOf('after'), '0');
  const body = { data: { a: '1', b: '2' } };
  await client.patch(configMaps, { namespace: 'default', name: 'after' }, { type: 'merge', body });
  await pass(0);
  assert.equal(await labelOf('after'), '2');
  assert.deepEqual(await process.stop(), { ok: true });
});

test('failures while the server is unavailable are retried and counted', async (t) => {
  const { client, clock, pass, labelOf, create, setOutage } = await setUp(t);
  const process = startProcess(client, clock, 'one');
  await pass(0);
  setOutage(true);
  await create('a', { x: '1' });
  for (let step = 0; step < 5; step += 1) await pass(1000);
  assert.equal(await labelOf('a'), undefined);
  setOutage(false);
  for (let step = 0; step < 20; step += 1) await pass(1000);
  assert.equal(await labelOf('a'), '1');
  assert.ok((await total(process.metrics, 'error')) > 1);
  assert.deepEqual(await process.stop(), { ok: true });
});

test('a second process takes over as soon as the first has stopped', async (t) => {
  const { client, clock, pass, labelOf, create } = await setUp(t);
  const first = startProcess(client, clock, 'one');
  await pass(0);
  const second = startProcess(client, clock, 'two');
  await pass(2000);
  await create('a', {});
  await pass(0);
  assert.ok((await total(first.metrics, 'success')) > 0);
  assert.ok(Number.isNaN(await total(second.metrics, 'success')), 'it has not even begun');
  assert.deepEqual(await first.stop(), { ok: true });
  await create('b', {});
  for (let step = 0; step < 3; step += 1) await pass(1000);
  assert.equal(await labelOf('b'), '0');
  assert.ok((await total(second.metrics, 'success')) > 0);
  assert.deepEqual(await second.stop(), { ok: true });
});
