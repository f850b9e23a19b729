import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createETagCache } from './installation.ts';

test('the ETag cache evicts the least recently used entry', () => {
  const kept = createETagCache(2);
  for (const question of ['one', 'two']) kept.set(question, { etag: question, body: {} });
  kept.get('one');
  kept.set('three', { etag: 'three', body: {} });
  assert.deepEqual(
    ['one', 'two', 'three'].map((question) => kept.get(question)?.etag),
    ['one', undefined, 'three'],
  );
});
