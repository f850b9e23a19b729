import assert from 'node:assert/strict';
import { test } from 'node:test';
import { binaryNames } from './build/recipes.ts';
import { backgroundTestArguments, binariesFor, sharesCluster, testArguments } from './test-arguments.ts';

const two = '--test-concurrency=2';

test('all tests run unless files are named, and options are passed on', () => {
  assert.deepEqual(testArguments([]), ['--test', two, 'test/kubernetes/**/*.test.ts']);
  assert.deepEqual(testArguments(['a.test.ts', 'b.test.ts']), ['--test', two, 'a.test.ts', 'b.test.ts']);
  assert.deepEqual(testArguments(['--test-name-pattern=drain']), [
    '--test',
    two,
    '--test-name-pattern=drain',
    'test/kubernetes/**/*.test.ts',
  ]);
});

test('the upgrade tests are others, and share no cluster', () => {
  assert.deepEqual(testArguments(['--upgrade']), ['--test', two, 'test/upgrade/**/*.test.ts']);
  assert.deepEqual(testArguments(['--upgrade', '--test-name-pattern=rollback', 'a.test.ts']), [
    '--test',
    two,
    '--test-name-pattern=rollback',
    'a.test.ts',
  ]);
  assert.equal(sharesCluster(['--upgrade']), false);
  assert.equal(sharesCluster(['a.test.ts']), true);
});

test('background tests run only beside a run of all tests', () => {
  const waiting = 'test/kubernetes-background/**/*.test.ts';
  assert.deepEqual(backgroundTestArguments([]), ['--test', waiting]);
  assert.deepEqual(backgroundTestArguments(['--test-only']), ['--test', '--test-only', waiting]);
  assert.equal(backgroundTestArguments(['a.test.ts']), undefined);
  assert.equal(backgroundTestArguments(['--upgrade']), undefined);
});

test('only a run of all tests needs everything built before', () => {
  assert.deepEqual(binariesFor([]), binaryNames);
  assert.deepEqual(binariesFor(['--test-name-pattern=drain']), binaryNames);
  assert.deepEqual(binariesFor(['--test-only', 'a.test.ts']), []);
  assert.ok(!binariesFor(['--upgrade']).includes('promtool'));
  assert.ok(binariesFor(['--upgrade']).includes('helm'));
});
