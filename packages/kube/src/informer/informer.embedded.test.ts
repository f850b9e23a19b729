import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { createClient } from '../client/create-client.ts';
import { defineResource, type KubeObject } from '../objects/object.ts';
import { inProcessTransport } from '../transport/in-process-transport.ts';
import { createInformer, withoutManagedFields } from './create-informer.ts';
import { countedClock } from './testing/counted-clock.ts';
import { recordedLog } from './testing/recorded-log.ts';

interface ConfigMap extends KubeObject {
  data?: { [key: string]: string };
}

const configMaps = defineResource<ConfigMap>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
});

interface Widget extends KubeObject {
  spec?: { size?: number };
}

const widgets = defineResource<Widget>({
  group: 'test.example',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
});

const definitions = defineResource<KubeObject & { spec: object }>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
});

const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
});

const configMap = { apiVersion: 'v1', kind: 'ConfigMap' };

const startKubernetes = async () => {
  const clock = countedClock();
  const kubernetes = await createKubernetes({ clock, controllers: false });
  const user = { commonName: 'test', organizations: ['system:masters'] };
  const client = createClient(inProcessTransport(kubernetes.handle, { user }), { clock });
  const namespace = { apiVersion: 'v1', kind: 'Namespace' };
  for (const name of ['default', 'elsewhere']) await client.create(namespaces, { ...namespace, metadata: { name } });
  // Responses pass through several streams, all without timers.
  const pass = async (milliseconds = 0): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    clock.advance(milliseconds);
    for (let turn = 0; turn < 20; turn++) await setImmediate();
  };
  return { clock, kubernetes, client, pass };
};

test('a cache follows the objects of its selector through many pages, changes and ended watches', async () => {
  const { clock, kubernetes, client, pass } = await startKubernetes();
  const write = (name: string, labels: Record<string, string>, value: string) =>
    client.create(configMaps, { ...configMap, metadata: { name, namespace: 'default', labels }, data: { value } });
  for (let number = 0; number < 12; number++) await write(`map-${number}`, { watched: 'yes' }, 'first');
  await write('other', { watched: 'no' }, 'first');

  const cache = createInformer({
    client: { ...client, list: (resource, options) => client.list(resource, { ...options, pageSize: 5 }) },
    resource: configMaps,
    namespace: 'default',
    labelSelector: 'watched=yes',
    indexes: { value: ({ data }) => Object.values(data ?? {}) },
    transform: withoutManagedFields,
    clock,
    random: () => 0,
    log: recordedLog().log,
  });
  const seen: string[] = [];
  cache.subscribe((change) =>
    seen.push(`${change.type} ${(change.type === 'removed' ? change.previous : change.object).metadata.name}`),
  );
  const stop = new AbortController();
  const done = cache.run(stop.signal);
  await cache.synced;
  assert.equal(cache.list().length, 12);
  await pass();

  const key = { namespace: 'default', name: 'map-3' };
  seen.length = 0;
  await client.patch(configMaps, key, { type: 'merge', body: { data: { value: 'second' } } });
  await client.patch(
    configMaps,
    { ...key, name: 'other' },
    { type: 'merge', body: { metadata: { labels: { watched: 'yes' } } } },
  );
  await client.patch(
    configMaps,
    { ...key, name: 'map-4' },
    { type: 'merge', body: { metadata: { labels: { watched: 'no' } } } },
  );
  await client.delete(configMaps, { ...key, name: 'map-5' });
  await pass();
  assert.deepEqual(seen, ['changed map-3', 'added other', 'removed map-4', 'removed map-5']);
  assert.deepEqual(
    cache.byIndex('value', 'second').map(({ metadata }) => metadata.name),
    ['map-3'],
  );

  // After the watch timeout the server ends the watch. Bookmarks kept it alive until then; the next watch resumes.
  for (let minute = 0; minute < 6; minute++) await pass(60_000);
  await client.delete(configMaps, key);
  await pass();
  assert.equal(seen.at(-1), 'removed map-3');
  assert.equal(seen.length, 5);
  assert.equal(cache.lastError, undefined);
  const { items } = await client.list(configMaps, { namespace: 'default', labelSelector: 'watched=yes' });
  const versions = (objects: readonly { metadata: { name: string; resourceVersion: string } }[]) =>
    objects.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort();
  assert.deepEqual(versions(cache.list()), versions(items));

  stop.abort();
  await done;
  kubernetes.stop();
  await pass();
  assert.equal(clock.timers, 0);
});

test('a kind is cached as soon as its definition is created', async () => {
  const { clock, kubernetes, client, pass } = await startKubernetes();
  const cache = createInformer({ client, resource: widgets, clock, random: () => 0, log: recordedLog().log });
  const stop = new AbortController();
  const done = cache.run(stop.signal);
  await pass();
  assert.match(String(cache.lastError), /widgets/);
  assert.equal(cache.hasSynced, false);

  const { group, version: name, kind, plural } = widgets;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await client.create(definitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: 'widget', listKind: 'WidgetList' },
      versions: [{ name, served: true, storage: true, schema }],
    },
  });
  await pass(30_000);
  await pass(30_000);
  await client.create(widgets, {
    apiVersion: 'test.example/v1',
    kind,
    metadata: { name: 'one', namespace: 'default' },
    spec: { size: 1 },
  });
  await pass();
  assert.equal(cache.get('default/one')?.spec?.size, 1);
  assert.equal(cache.lastError, undefined);
  stop.abort();
  await done;
  kubernetes.stop();
});

test('when the version has expired, the informer lists again and notifies the difference', async () => {
  const { clock, kubernetes, client, pass } = await startKubernetes();
  const write = (name: string) => client.create(configMaps, { ...configMap, metadata: { name, namespace: 'default' } });
  await write('stays');
  await write('goes');
  let cut = new AbortController();
  const { log, lines } = recordedLog();
  const cache = createInformer<ConfigMap>({
    client: {
      list: client.list,
      watch: (resource, options) =>
        client.watch(resource, { ...options, signal: AbortSignal.any([options.signal, cut.signal]) }),
    },
    resource: configMaps,
    namespace: 'default',
    clock,
    random: () => 0,
    log,
  });
  const seen: string[] = [];
  cache.subscribe((change) => seen.push(change.type));
  const stop = new AbortController();
  const done = cache.run(stop.signal);
  await pass();
  cut.abort();
  cut = new AbortController();
  await pass();
  await client.delete(configMaps, { namespace: 'default', name: 'goes' });
  await write('comes');
  const api = kubernetes.api;
  const resource = api.find('', 'configmaps');
  assert.ok(resource);
  const filler = await client.create(configMaps, {
    ...configMap,
    metadata: { name: 'filler', namespace: 'elsewhere' },
  });
  const admin = { name: 'test', groups: ['system:masters'] };
  // More writes than the embedded server keeps in its history.
  for (let number = 0; number < 13_000; number++) {
    const { resourceVersion: _old, ...metadata } = filler.metadata;
    api.update(resource, 'elsewhere', { ...filler, metadata, data: { number: `${number}` } } as never, admin);
  }
  seen.length = 0;
  await pass(400);
  await pass(1600);
  assert.deepEqual(
    lines.flatMap(({ fields }) => fields['reason'] ?? []),
    ['aborted', 'expired'],
  );
  assert.equal(lines.filter(({ message }) => message === 'Listed').length, 2);
  assert.deepEqual(seen, ['removed', 'added']);
  assert.deepEqual(
    cache
      .list()
      .map(({ metadata }) => metadata.name)
      .sort(),
    ['comes', 'stays'],
  );
  stop.abort();
  await done;
  kubernetes.stop();
});
