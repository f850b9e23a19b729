import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { canonicalBase64 } from './base64.ts';

describe('base64', () => {
  const table: [string, string | number][] = [
    ['', ''],
    ['YQ==', 'YQ=='],
    ['YR==', 'YQ=='],
    ['YQ==\n', 'YQ=='],
    ['YW\nI=', 'YWI='],
    ['YQ=\n=', 'YQ=='],
    ['YWJj', 'YWJj'],
    ['YQ', 0],
    ['YWJjZA', 4],
    ['Y===', 1],
    ['YQ=', 3],
    ['YQ=a', 2],
    ['YQ= =', 2],
    ['YQ==YQ==', 4],
    ['YWJj\nYQ', 5],
    ['=', 0],
    ['YWI=x', 4],
    ['Y?==', 1],
    ['!!', 0],
    ['YWJj?', 4],
  ];
  for (const [text, expected] of table) {
    it(`${JSON.stringify(text)} is ${typeof expected === 'number' ? `refused at byte ${expected}` : expected}`, () =>
      assert.equal(canonicalBase64(text), expected));
  }
});
