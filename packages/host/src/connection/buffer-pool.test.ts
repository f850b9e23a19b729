import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bufferSize, giveBack, takeBuffer } from './buffer-pool.ts';

test('a buffer is used again once it was given back, whole, and by one at a time', () => {
  const first = takeBuffer();
  assert.equal(first.length, bufferSize);
  const second = takeBuffer();
  assert.notEqual(second.buffer, first.buffer);
  const piece = first.subarray(10, 20);
  giveBack(piece);
  giveBack(piece);
  const [third, fourth] = [takeBuffer(), takeBuffer()];
  assert.equal(third.buffer, first.buffer);
  assert.equal(third.length, bufferSize);
  assert.notEqual(fourth.buffer, first.buffer, 'given back twice, and lent once');
});

test('what is not of the pool never gets into it', () => {
  const foreign = Buffer.alloc(bufferSize);
  giveBack(foreign);
  assert.notEqual(takeBuffer().buffer, foreign.buffer);
});
