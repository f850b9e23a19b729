import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Live } from '../objects/object.ts';
import { createIndexedStore } from './indexed-store.ts';
import type { Thing } from './testing/model-server.ts';
import { recordedLog } from './testing/recorded-log.ts';

const thing = (name: string, color: string, step = 0): Live<Thing> => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { color, step },
});

test('objects are found by every value of an index, once each', () => {
  const store = createIndexedStore<Thing>({ word: ({ spec }) => spec.color.split(' ') }, recordedLog().log);
  const a = thing('a', 'red red blue');
  store.put('a', a);
  store.put('b', thing('b', 'green'));
  assert.deepEqual(store.byIndex('word', 'red'), [a]);
  assert.deepEqual(store.byIndex('word', 'blue'), [a]);
  assert.deepEqual(store.byIndex('word', 'white'), []);
});

test('an index always agrees with the stored objects', () => {
  const color = fc.constantFrom('red', 'green', 'blue');
  const move = fc.record({ key: fc.constantFrom('a', 'b', 'c'), color: fc.option(color) });
  fc.assert(
    fc.property(fc.array(move), (moves) => {
      const store = createIndexedStore<Thing>({ color: ({ spec }) => [spec.color] }, recordedLog().log);
      for (const { key, color } of moves) {
        if (color === null) store.remove(key);
        else store.put(key, thing(key, color));
        for (const wanted of ['red', 'green', 'blue']) {
          const expected = store.list().filter(({ spec }) => spec.color === wanted);
          assert.deepEqual(new Set(store.byIndex('color', wanted)), new Set(expected));
          assert.equal(store.countByIndex('color').get(wanted) ?? 0, expected.length);
        }
        assert.equal(store.size, store.list().length);
      }
    }),
  );
});

test('an object is removed from the index values it was added under, even if it was mutated meanwhile', () => {
  const store = createIndexedStore<Thing>({ color: ({ spec }) => [spec.color] }, recordedLog().log);
  const a = thing('a', 'red');
  store.put('a', a);
  a.spec.color = 'blue';
  store.remove('a');
  store.put('b', thing('b', 'blue'));
  assert.deepEqual(store.byIndex('color', 'red'), []);
});

test('an index function that throws is logged; the object stays in the store and in the other indexes', () => {
  const { log, lines } = recordedLog();
  const store = createIndexedStore<Thing>(
    {
      picky: ({ spec }) => {
        if (spec.color === 'blue') throw new Error('not blue');
        return ['any'];
      },
      color: ({ spec }) => [spec.color],
    },
    log,
  );
  store.put('a', thing('a', 'red'));
  assert.equal(store.byIndex('picky', 'any').length, 1);
  store.put('a', thing('a', 'blue'));
  assert.deepEqual(store.byIndex('picky', 'any'), []);
  assert.equal(store.byIndex('color', 'blue').length, 1);
  assert.equal(store.get('a')?.spec.color, 'blue');
  assert.deepEqual(
    lines.map(({ level, fields }) => [level, fields['index'], fields['key']]),
    [['error', 'picky', 'a']],
  );
});

test('asking for an index that does not exist names those that do', () => {
  const store = createIndexedStore<Thing>({ color: () => [] }, recordedLog().log);
  for (const ask of [() => store.byIndex('colour', 'red'), () => store.countByIndex('colour')])
    assert.throws(ask, /no index "colour" \(it has: color\)/);
});
