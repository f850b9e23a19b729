import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTestArguments } from './arguments.ts';

test('without files, the tests beside the code run, and no slow ones', () => {
  const { isEverything, options, patterns, slowest } = parseTestArguments([]);
  assert.deepEqual({ isEverything, options, slowest }, { isEverything: true, options: [], slowest: false });
  assert.ok(patterns.length > 0 && patterns.every((pattern) => !pattern.includes('test/')));
});

test('named files are run, and options are passed to the test runner of Node', () => {
  assert.deepEqual(
    parseTestArguments(['a.test.ts', '--test-name-pattern=drain', 'b/*.test.ts', '--slowest', '--shuffle=7']),
    {
      patterns: ['a.test.ts', 'b/*.test.ts'],
      isEverything: false,
      options: ['--test-name-pattern=drain'],
      slowest: true,
      shuffle: 7,
    },
  );
});
