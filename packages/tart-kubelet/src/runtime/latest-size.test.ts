import assert from 'node:assert/strict';
import { test } from 'node:test';
import { latestSize } from './latest-size.ts';

test('sizes of a terminal are set one after the other, and the last one last', async () => {
  const set: number[] = [];
  const gates: (() => void)[] = [];
  const resize = latestSize(({ width }) => {
    set.push(width);
    return new Promise((resolve) => gates.push(resolve));
  });
  const width = (columns: number): void => resize({ width: columns, height: 24 });
  width(1);
  width(2);
  width(3);
  assert.deepEqual(set, [1]);
  gates.shift()?.();
  await new Promise(setImmediate);
  assert.deepEqual(set, [1, 3]);
  gates.shift()?.();
  await new Promise(setImmediate);
  width(4);
  assert.deepEqual(set, [1, 3, 4]);
});
