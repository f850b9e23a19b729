import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLruCache } from './lru-cache.ts';

test('an LRU cache evicts the least recently used entry', () => {
  const map = createLruCache<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  assert.equal(map.get('a'), 1);
  map.set('c', 3);
  assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [1, undefined, 3]);
});
