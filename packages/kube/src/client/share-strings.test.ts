import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { shareStrings } from './share-strings.ts';

test('what is shared is equal to what was there', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const before = structuredClone(value);
      shareStrings(value, new Map());
      assert.deepEqual(value, before);
    }),
  );
});

test('the same text is kept once, however often it stands there', () => {
  const pool = new Map<string, string>();
  const value: unknown = JSON.parse('[{"a":"a long enough text"},{"b":["a long enough text","another"]}]');
  shareStrings(value, pool);
  assert.deepEqual([...pool.keys()], ['a long enough text', 'another']);
});

test('long texts are left alone', () => {
  const pool = new Map<string, string>();
  shareStrings({ a: 'x'.repeat(1_000) }, pool);
  assert.equal(pool.size, 0);
});
