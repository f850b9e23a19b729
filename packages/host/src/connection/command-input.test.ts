import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bufferSize, oncePerTick, returnBuffer, takeBuffer } from './command-input.ts';

test('a buffer is used again once it was given back, whole, and by one at a time', () => {
  const first = takeBuffer();
  assert.equal(first.length, bufferSize);
  const second = takeBuffer();
  assert.notEqual(second.buffer, first.buffer);
  const piece = first.subarray(10, 20);
  returnBuffer(piece);
  returnBuffer(piece);
  const [third, fourth] = [takeBuffer(), takeBuffer()];
  assert.equal(third.buffer, first.buffer);
  assert.equal(third.length, bufferSize);
  assert.notEqual(fourth.buffer, first.buffer, 'given back twice, and lent once');
});

test('a foreign buffer is never added to the pool', () => {
  const foreign = Buffer.alloc(bufferSize);
  returnBuffer(foreign);
  assert.notEqual(takeBuffer().buffer, foreign.buffer);
});

test('one write per tick of the event loop, in order, also for writes added meanwhile', async () => {
  const seen: string[] = [];
  const turns: string[] = [];
  oncePerTick(() => {
    seen.push('a');
    oncePerTick(() => seen.push('c'));
  });
  oncePerTick(() => seen.push('b'));
  assert.deepEqual(seen, [], 'never at once');
  for (let turn = 0; turn < 4; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    turns.push(seen.splice(0).join(' '));
  }
  assert.deepEqual(turns, ['a', 'b', 'c', '']);
});
