import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import {
  type InformerEvent,
  type Client,
  configMaps,
  createClient,
  createLogger,
  createInformer,
  httpsTransport,
  isKubeError,
  keyOf,
  type Live,
  namespaces,
  type WatchEvent,
} from '@tartan/kube';
import { type Clock, systemClock as clock } from '@tartan/kube/clock';
import { type ControlPlane, testControlPlane } from '@tartan/tools-kubernetes';

type ConfigMap = NonNullable<typeof configMaps.ofType>;

/** Back-offs of at most 30 s take 10 ms. */
const impatientClock: Clock = {
  ...clock,
  after: (milliseconds, run) => clock.after(milliseconds > 30_000 ? milliseconds : Math.min(milliseconds, 10), run),
};

/** Ends each watch after some events, like a broken connection. */
const cutting = (client: Client, after: number): Pick<Client, 'list' | 'watch'> => ({
  list: client.list,
  watch: async function* (resource, options): AsyncGenerator<WatchEvent<never>> {
    let seen = 0;
    for await (const event of client.watch(resource, options)) {
      yield event as WatchEvent<never>;
      if (++seen >= after) return;
    }
  },
});

describe('a watch cache on a real API server', () => {
  const namespace = `cache-${randomUUID().slice(0, 8)}`;
  const log = createLogger({ clock, level: 'error', write: (line) => process.stderr.write(line) });
  let cluster: ControlPlane;
  let client: Client;

  before(async () => {
    cluster = await testControlPlane();
    const { url, caCertificate: ca, clientCertificate: cert, clientKey: key } = cluster;
    const credentials = () => ({ certificate: { cert, key } });
    client = createClient(httpsTransport({ server: url, ca, clock, credentials }), { clock });
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  });
  after(async () => {
    await client.delete(namespaces, { name: namespace });
    await cluster.stop();
  });

  test('reports every change once, in order, across broken connections', async () => {
    const stop = new AbortController();
    const cache = createInformer({
      client: cutting(client, 5),
      resource: configMaps,
      namespace,
      clock: impatientClock,
      random: Math.random,
      log,
    });
    const objects = new Map<string, Live<ConfigMap>>();
    const versions: bigint[] = [];
    const changes = new EventTarget();
    cache.subscribe((change: InformerEvent<ConfigMap>) => {
      if (change.type === 'removed') objects.delete(keyOf(change.previous.metadata));
      else {
        objects.set(keyOf(change.object.metadata), change.object);
        versions.push(BigInt(change.object.metadata.resourceVersion));
      }
      changes.dispatchEvent(new Event('change'));
    });
    const running = cache.run(stop.signal);
    await cache.synced;

    for (let step = 0; step < 120; step++) {
      const name = `thing-${step % 7}`;
      try {
        if (step % 11 === 10) await client.delete(configMaps, { namespace, name });
        else
          await client.patch(
            configMaps,
            { namespace, name },
            { type: 'merge', body: { data: { step: String(step) } } },
          );
      } catch (error) {
        if (!isKubeError(error, 'notFound')) throw error;
        await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } });
      }
    }
    await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'the-end' } });
    while (!objects.has(`${namespace}/the-end`)) {
      await new Promise((resolve) => changes.addEventListener('change', resolve, { once: true }));
    }

    const { items } = await client.list(configMaps, { namespace });
    const summary = (all: Iterable<Live<ConfigMap>>): string[] =>
      [...all].map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort();
    assert.deepEqual(summary(objects.values()), summary(items));
    assert.deepEqual(summary(cache.list()), summary(items));
    assert.deepEqual([...new Set(versions)], versions, 'a version was notified twice');
    stop.abort();
    await running;
  });
});
