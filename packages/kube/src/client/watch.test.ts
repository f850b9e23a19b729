import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeText } from '../transport/body.ts';
import { splitFrames } from './watch.ts';

async function* chunked(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const borders = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  for (const [index, start] of borders.entries()) yield bytes.subarray(start, borders[index + 1] ?? start);
}

const frames = async (text: string | Uint8Array, cuts: readonly number[] = [], largest = 1000): Promise<string[]> =>
  Array.fromAsync(splitFrames(chunked(Buffer.from(text), cuts), largest), ({ bytes }) => decodeText(bytes));

test('lines are complete, wherever the chunks are cut', async () => {
  const line = fc.string({ unit: 'binary', minLength: 1 }).map((text) => JSON.stringify({ text }));
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat()), fc.boolean(), async (lines, cuts, closed) => {
      const text = lines.join('\n') + (closed ? '\n' : '');
      const wellFormed = lines.map((each) => each.toWellFormed());
      assert.deepEqual(await frames(text, cuts, 100_000), wellFormed);
    }),
  );
});

test('empty lines are skipped', async () => {
  assert.deepEqual(await frames('\n\na\r\n\n \nb'), ['a\r', 'b']);
});

test('a last line without a newline is reported as cut off', async () => {
  const found = await Array.fromAsync(splitFrames(chunked(Buffer.from('a\nb'), []), 9), (frame) => frame.complete);
  assert.deepEqual(found, [true, false]);
});

test('a line that is too long is an error', async () => {
  assert.deepEqual(await frames(`${'x'.repeat(1000)}\n`), ['x'.repeat(1000)]);
  await assert.rejects(frames(`${'x'.repeat(1001)}\n`), { reason: 'malformed' });
  const seen: number[] = [];
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      seen.push(1);
      yield Buffer.alloc(300, 'x');
    }
  }
  await assert.rejects(Array.fromAsync(splitFrames(endless(), 1000)), { reason: 'malformed' });
  assert.equal(seen.length, 4);
});

test('invalid UTF-8 is an error', async () => {
  await assert.rejects(frames(Uint8Array.of(0x7b, 0xff, 0x0a)), { reason: 'malformed' });
});
