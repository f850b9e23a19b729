import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeTurn } from './turns.ts';

test('each turn of the event loop sees one item, in order, also of those that come meanwhile', async () => {
  const seen: string[] = [];
  const turns: string[] = [];
  takeTurn(() => {
    seen.push('a');
    takeTurn(() => seen.push('c'));
  });
  takeTurn(() => seen.push('b'));
  assert.deepEqual(seen, [], 'never at once');
  for (let turn = 0; turn < 4; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    turns.push(seen.splice(0).join(' '));
  }
  assert.deepEqual(turns, ['a', 'b', 'c', '']);
});
