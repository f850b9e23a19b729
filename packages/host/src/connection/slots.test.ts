import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slots } from './slots.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('so many get in, the others in order as room is given back', async () => {
  const room = slots(2);
  const inside: string[] = [];
  const [a, , c] = ['a', 'b', 'c', 'd', 'e'].map((name) => room.take(() => inside.push(name)));
  assert.deepEqual(inside, [], 'nobody before take has returned');
  await turn();
  assert.deepEqual(inside, ['a', 'b']);
  c?.();
  a?.();
  a?.();
  await turn();
  assert.deepEqual(inside, ['a', 'b', 'd'], 'who left the queue is passed over, and room is given back once');
});

test('who leaves before getting in never does', async () => {
  const room = slots(1);
  room.take(() => assert.fail('got in'))();
  let got = false;
  room.take(() => (got = true));
  await turn();
  assert(got);
});
