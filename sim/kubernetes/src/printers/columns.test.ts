import assert from 'node:assert/strict';
import { test } from 'node:test';
import { age, humanDuration, nameAndAge, nameAndCreation } from './columns.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

const spans: [number, string][] = [
  [-2 * second, '<invalid>'],
  [-1999, '0s'],
  [0, '0s'],
  [999, '0s'],
  [119 * second, '119s'],
  [2 * minute, '2m'],
  [2 * minute + second, '2m1s'],
  [10 * minute - second, '9m59s'],
  [10 * minute, '10m'],
  [3 * hour - second, '179m'],
  [3 * hour, '3h'],
  [3 * hour + minute, '3h1m'],
  [8 * hour, '8h'],
  [48 * hour - second, '47h'],
  [2 * day, '2d'],
  [2 * day + hour, '2d1h'],
  [8 * day, '8d'],
  [2 * year - second, '729d'],
  [2 * year, '2y'],
  [2 * year + day, '2y1d'],
  [8 * year + day, '8y'],
  [Number.NaN, '<invalid>'],
];

for (const [milliseconds, expected] of spans) {
  test(`${milliseconds} ms are shown as ${expected}`, () => assert.equal(humanDuration(milliseconds), expected));
}

test('a missing timestamp has no age', () => {
  assert.equal(age(undefined, 0), '<unknown>');
  assert.equal(age('', 0), '<unknown>');
  assert.equal(age('1970-01-01T00:00:00Z', 5 * minute), '5m');
});

test('an object of a bookmark has neither name nor age', () => {
  const bookmark = JSON.parse('{"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"5"}}');
  assert.deepEqual(nameAndAge.cells(bookmark, 0), ['', '<unknown>']);
  assert.deepEqual(nameAndCreation.cells(bookmark, 0), ['', '0001-01-01T00:00:00Z']);
});
