import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { noFaults } from '../faults.ts';
import { throttledInput } from './session.ts';

test('input passes at once without a fault', async () => {
  const input = throttledInput(noFaults(), manualClock(), () => assert.fail('cut'));
  input.end('all of it');
  assert.equal(String(await input.toArray()), 'all of it');
});

test('input of a slow channel is delayed', async () => {
  const clock = manualClock();
  const input = throttledInput({ ...noFaults(), bytesPerSecond: 100 }, clock, () => assert.fail('cut'));
  input.write(Buffer.alloc(150));
  clock.advance(1499);
  assert.equal(input.read(), null);
  clock.advance(1);
  assert.equal(input.read().length, 150);
  input.destroy();
});

test('input that is cut passes the bytes before, without an end of file', async () => {
  let ended = false;
  const { promise, resolve } = Promise.withResolvers<void>();
  const input = throttledInput({ ...noFaults(), disconnectAtByte: 5 }, manualClock(), resolve);
  input.once('end', () => {
    ended = true;
  });
  input.write('abc');
  input.end('defgh');
  const taken: Buffer[] = [];
  input.on('data', (chunk: Buffer) => taken.push(chunk));
  await promise;
  assert.equal(String(Buffer.concat(taken)), 'abcde');
  assert.ok(!ended);
  input.destroy();
  await once(input, 'close');
});
