import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from './figure.ts';

const rows: [value: number, goal: string, met: boolean][] = [
  [2, '<= 2', true],
  [2.001, '<= 2', false],
  [5, '>= 5', true],
  [4.9, '>= 5', false],
  [1, '< 1', false],
  [1.5, '> 1', true],
  [Number.NaN, '<= 2', false],
  [0, 'fast', false],
];

for (const [value, goal, met] of rows) {
  test(`${value} ${met ? 'meets' : 'misses'} the goal ${JSON.stringify(goal)}`, () => {
    assert.equal(judge({ what: 'x', value, unit: 'ratio', goal }).met, met);
  });
}
