import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wishOf } from './arguments.ts';

test('without files it is every part, and no whole fleet', () => {
  const { isEverything, options, patterns, slowest } = wishOf([]);
  assert.deepEqual({ isEverything, options, slowest }, { isEverything: true, options: [], slowest: false });
  assert.ok(patterns.length > 0 && patterns.every((pattern) => !pattern.includes('test/')));
});

test('files are those that are named, and options go to who runs them', () => {
  assert.deepEqual(wishOf(['a.test.ts', '--test-name-pattern=drain', 'b/*.test.ts', '--slowest', '--shuffle=7']), {
    patterns: ['a.test.ts', 'b/*.test.ts'],
    isEverything: false,
    options: ['--test-name-pattern=drain'],
    slowest: true,
    shuffle: 7,
  });
});
