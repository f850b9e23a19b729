import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createStringPool } from './string-pool.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** As `JSON.parse` makes them, each with strings of its own. */
const parse = (text: string): object =>
  JSON.parse(JSON.stringify({ spec: { text }, list: [{ text }, [text], 1, null, true], name: 'short' })) as object;

const heapAfter = (count: number, textOf: (index: number) => string): number => {
  const shareStrings = createStringPool(100);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: count }, (_, index) => {
    const object = parse(textOf(index));
    shareStrings(object);
    return object;
  });
  collectGarbage();
  assert.equal(kept.length, count);
  return process.memoryUsage().heapUsed - before;
};

const megabyte = 1e6;
const long = 'x'.repeat(10_000);

test('equal strings of different objects take up memory once, also while many different ones come between them', () => {
  assert.ok(heapAfter(500, () => long) < megabyte, 'of 15 MB');
  const mixed = heapAfter(1000, (index) => (index % 2 === 0 ? long : `the message number ${index}`));
  assert.ok(mixed < megabyte, 'of 15 MB');
});

test('the pool does not keep strings that nobody else keeps', () => {
  const shareStrings = createStringPool(10);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 1000; index += 1) shareStrings(parse(`${index} ${long}`));
  collectGarbage();
  assert.ok(process.memoryUsage().heapUsed - before < megabyte, 'of 10 MB');
});

test('objects keep their content', () => {
  const shareStrings = createStringPool(2);
  for (let index = 0; index < 20; index += 1) {
    const object = parse(`the message number ${index % 7}`);
    shareStrings(object);
    assert.deepEqual(object, parse(`the message number ${index % 7}`));
  }
});
