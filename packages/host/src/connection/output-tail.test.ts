import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputTail } from './output-tail.ts';

const textOf = (cap: number, ...pieces: (string | number[])[]): string => {
  const tail = outputTail(cap);
  for (const piece of pieces) tail.add(Buffer.from(piece as string));
  return tail.text();
};

test('what fits is kept whole, the end of what does not', () => {
  assert.equal(textOf(4), '');
  assert.equal(textOf(4, 'ab', 'cd'), 'abcd');
  assert.equal(textOf(4, 'ab', 'cd', 'e'), 'bcde');
  assert.equal(textOf(4, 'abcdefgh'), 'efgh');
});

test('a character is never cut in two', () => {
  assert.equal(textOf(4, 'ä', 'bcd'), 'bcd');
  assert.equal(textOf(4, '🙂', 'x'), 'x');
  assert.equal(textOf(4, [0xc3], [0xa4], 'b'), 'äb', 'also when it arrives in two pieces');
});

test('bytes that are no text do not disturb what is', () => {
  assert.equal(textOf(8, [0xff, 0xfe], 'why'), '\ufffd\ufffdwhy');
  assert.equal(textOf(4, [0x80, 0x80, 0x80, 0x80, 0x80, 0x80]), '\ufffd', 'at most one character is left out');
});
