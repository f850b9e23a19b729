import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { internStrings } from './list.ts';

test('interned objects equal the original', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const before = structuredClone(value);
      internStrings(value, new Map());
      assert.deepEqual(value, before);
    }),
  );
});

test('equal strings are stored once', () => {
  const pool = new Map<string, string>();
  const value: unknown = JSON.parse('[{"a":"a long enough text"},{"b":["a long enough text","another"]}]');
  internStrings(value, pool);
  assert.deepEqual([...pool.keys()], ['a long enough text', 'another']);
});

test('long strings are not interned', () => {
  const pool = new Map<string, string>();
  internStrings({ a: 'x'.repeat(1_000) }, pool);
  assert.equal(pool.size, 0);
});
