import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCommandLimiter } from './host-connection.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('admits up to the limit, the others in order as slots are released', async () => {
  const room = createCommandLimiter(2);
  const inside: string[] = [];
  const [a, , c] = ['a', 'b', 'c', 'd', 'e'].map((name) => room.acquire(() => inside.push(name)));
  assert.deepEqual(inside, [], 'nobody before take has returned');
  await turn();
  assert.deepEqual(inside, ['a', 'b']);
  c?.();
  a?.();
  a?.();
  await turn();
  assert.deepEqual(inside, ['a', 'b', 'd'], 'who left the queue is passed over, and room is given back once');
});

test('an entry released while it waits is never admitted', async () => {
  const room = createCommandLimiter(1);
  room.acquire(() => assert.fail('got in'))();
  let got = false;
  room.acquire(() => (got = true));
  await turn();
  assert(got);
});
