import assert from 'node:assert/strict';
import { test } from 'node:test';
import rootPackage from '../../../../package.json' with { type: 'json' };
import { parseTestArguments } from './arguments.ts';

test('without files, the tests beside the code run, and no slow ones', () => {
  const { options, patterns, slowest } = parseTestArguments([]);
  assert.deepEqual({ options, slowest }, { options: [], slowest: false });
  assert.ok(patterns.length > 0 && patterns.every((pattern) => !pattern.includes('test/')));
});

test('named files are run, and options are passed to the test runner of Node', () => {
  assert.deepEqual(
    parseTestArguments(['a.test.ts', '--test-name-pattern=drain', 'b/*.test.ts', '--slowest', '--shuffle=7']),
    {
      patterns: ['a.test.ts', 'b/*.test.ts'],
      options: ['--test-name-pattern=drain'],
      slowest: true,
      shuffle: 7,
    },
  );
});

test('test:fleet is the same command with a tier: its files without names, else only the named ones', () => {
  assert.equal(rootPackage.scripts['test:fleet'], `${rootPackage.scripts.test} --fleet`);
  const { patterns, ...tier } = parseTestArguments(['--fleet', '--slowest', '--shuffle=7']);
  assert.ok(
    patterns.some((pattern) => pattern.startsWith('test/')) && patterns.some((each) => each.includes('.slow.')),
  );
  assert.deepEqual(tier, { options: [], slowest: true, shuffle: 7 });
  assert.deepEqual(parseTestArguments(['--fleet', 'a.test.ts']).patterns, ['a.test.ts']);
});
