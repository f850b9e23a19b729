import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../objects/object.ts';
import {
  annotationsChanged,
  anyOf,
  fromInformer,
  generationChanged,
  labelsChanged,
  requestForObject,
  requestForOwner,
} from './source.ts';
import { fakeInformer, live } from './testing/fake-informer.ts';

const collect = (...[toKeys, matters]: [Parameters<typeof fromInformer>[1], Parameters<typeof fromInformer>[2]?]) => {
  const cache = fakeInformer<KubeObject>();
  const keys: string[] = [];
  const reported: unknown[] = [];
  const source = fromInformer(cache, toKeys, matters);
  const end = source(
    (key) => keys.push(key),
    (error) => reported.push(error),
  );
  return { cache, keys, reported, end };
};

const deployment = { group: 'apps', kind: 'Deployment', namespaced: true };
const owned = (name: string, apiVersion: string, controller?: boolean) =>
  live({
    name: 'pod',
    namespace: 'n',
    ownerReferences: [
      { apiVersion, kind: 'Deployment', name, uid: 'u', ...(controller !== undefined && { controller }) },
    ],
  });

test('added, changed and removed objects enqueue their own key', () => {
  const { cache, keys } = collect(requestForObject);
  const object = live({ name: 'a', namespace: 'n' });
  cache.tell({ type: 'added', object });
  cache.tell({ type: 'changed', object, previous: object });
  cache.tell({ type: 'removed', previous: object });
  cache.tell({ type: 'added', object: live({ name: 'node' }) });
  assert.deepEqual(keys, ['n/a', 'n/a', 'n/a', 'node']);
});

test('an object whose owner changes enqueues both owners', () => {
  const { cache, keys } = collect(requestForOwner(deployment));
  cache.tell({ type: 'changed', previous: owned('old', 'apps/v1', true), object: owned('new', 'apps/v1', true) });
  assert.deepEqual(keys, ['n/old', 'n/new']);
});

test('only the controlling owner of that kind and group counts, whatever its version', () => {
  const { cache, keys } = collect(requestForOwner(deployment));
  cache.tell({ type: 'added', object: owned('not-controlling', 'apps/v1') });
  cache.tell({ type: 'added', object: owned('other-group', 'example.org/v1', true) });
  cache.tell({ type: 'added', object: owned('core-group', 'v1', true) });
  cache.tell({ type: 'added', object: owned('older', 'apps/v1beta1', true) });
  assert.deepEqual(keys, ['n/older']);
});

test('the key of an owner without namespace has none', () => {
  const { cache, keys } = collect(requestForOwner({ ...deployment, namespaced: false }));
  cache.tell({ type: 'added', object: owned('cluster-wide', 'apps/v1', true) });
  assert.deepEqual(keys, ['cluster-wide']);
});

test('changes rejected by the predicate enqueue nothing', () => {
  const previous = live({ name: 'a', generation: 1, labels: { x: '1' }, annotations: { y: '1' } });
  const changed = (metadata: object) =>
    ({ type: 'changed', previous, object: live({ ...previous.metadata, ...metadata }) }) as const;
  const other = changed({ resourceVersion: '2' });
  const generation = changed({ generation: 2 });
  const deletion = changed({ deletionTimestamp: '2026-01-01T00:00:00Z' });
  const label = changed({ labels: { x: '2' } });
  const labelAdded = changed({ labels: { x: '1', z: '1' } });
  const annotation = changed({ annotations: {} });
  const all = [other, generation, deletion, label, labelAdded, annotation];
  assert.deepEqual(all.map(generationChanged), [false, true, true, false, false, false]);
  assert.deepEqual(all.map(labelsChanged), [false, false, false, true, true, false]);
  assert.deepEqual(all.map(annotationsChanged), [false, false, false, false, false, true]);
  assert.deepEqual(all.map(anyOf(generationChanged, labelsChanged)), [false, true, true, true, true, false]);
  assert.ok(
    [generationChanged, labelsChanged, annotationsChanged].every((matters) => matters({ type: 'removed', previous })),
  );
  const { cache, keys } = collect(requestForObject, generationChanged);
  for (const change of all) cache.tell(change);
  assert.deepEqual(keys, ['a', 'a']);
});

test('a map function that throws is reported and does not reach the informer', () => {
  const { cache, keys, reported } = collect(({ metadata }) => {
    if (metadata.name === 'bad') throw new Error('cannot map');
    return [metadata.name];
  });
  cache.tell({ type: 'added', object: live({ name: 'bad' }) });
  cache.tell({ type: 'added', object: live({ name: 'good' }) });
  assert.deepEqual(keys, ['good']);
  assert.equal(reported.length, 1);
});

test('an ended subscription enqueues nothing more', () => {
  const { cache, keys, end } = collect(requestForObject);
  end();
  cache.tell({ type: 'added', object: live({ name: 'a' }) });
  assert.deepEqual(keys, []);
});
