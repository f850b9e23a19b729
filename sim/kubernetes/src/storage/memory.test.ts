import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../object.ts';
import { memoryStorage } from './memory.ts';

const object = (name: string, value = ''): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name, uid: name, resourceVersion: '', creationTimestamp: '' },
  value,
});

const names = (objects: KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name);

test('every write has its own revision, which is in the object', () => {
  const storage = memoryStorage();
  const first = storage.put('a/1', object('1'));
  const second = storage.put('b/1', object('1'));
  assert.equal(Number(second.metadata.resourceVersion), Number(first.metadata.resourceVersion) + 1);
  assert.equal(storage.revision, Number(second.metadata.resourceVersion));
});

test('stored objects are deeply frozen', () => {
  const stored = memoryStorage().put('a/1', object('1'));
  assert.throws(() => {
    stored.metadata.name = 'other';
  }, TypeError);
});

test('a list is in key order and stays within its prefix', () => {
  const storage = memoryStorage();
  for (const key of ['things/b/2', 'things/a/9', 'thingsandmore/a/1', 'things/b/1']) storage.put(key, object(key));
  assert.deepEqual(names(storage.list('things/')), ['things/a/9', 'things/b/1', 'things/b/2']);
});

test('a removed object is returned with the revision of its removal', () => {
  const storage = memoryStorage();
  const put = storage.put('a/1', object('1'));
  const removed = storage.remove('a/1');
  assert.ok(Number(removed?.metadata.resourceVersion) > Number(put.metadata.resourceVersion));
  assert.equal(storage.get('a/1'), undefined);
  assert.equal(storage.remove('a/1'), undefined);
});

test('changes are replayed from a revision, and compacted beyond the limit', () => {
  const storage = memoryStorage(4);
  for (let count = 0; count < 20; count++) storage.put('a/1', object('1', String(count)));
  assert.ok(storage.compacted > 0);
  const replayed = storage.changes('a/', storage.compacted);
  assert.deepEqual(
    replayed.map(({ revision }) => revision),
    Array.from({ length: storage.revision - storage.compacted }, (_, index) => storage.compacted + 1 + index),
  );
});

test('a subscriber gets each change once, until it unsubscribes', () => {
  const storage = memoryStorage();
  const seen: string[] = [];
  const unsubscribe = storage.subscribe((change) => seen.push(`${change.key} ${change.object ? 'put' : 'removed'}`));
  storage.put('a/1', object('1'));
  storage.remove('a/1');
  unsubscribe();
  storage.put('a/2', object('2'));
  assert.deepEqual(seen, ['a/1 put', 'a/1 removed']);
});

test('the state at any kept revision can be listed', () => {
  const write = fc.record({ key: fc.constantFrom('x/1', 'x/2', 'x/3', 'y/1'), remove: fc.boolean() });
  fc.assert(
    fc.property(fc.array(write, { maxLength: 40 }), (writes) => {
      const storage = memoryStorage();
      const states = new Map<number, KubeObject[]>([[storage.revision, []]]);
      for (const [index, { key, remove }] of writes.entries()) {
        if (remove) storage.remove(key);
        else storage.put(key, object(key, String(index)));
        states.set(storage.revision, storage.list('x/'));
      }
      for (const [revision, state] of states) assert.deepEqual(storage.list('x/', revision), state);
    }),
  );
});
