import assert from 'node:assert/strict';
import { test } from 'node:test';
import { binaryNames } from './build/recipes.ts';
import { binariesFor, sharesCluster, testArguments } from './test-arguments.ts';

const common = ['--test', '--test-concurrency=3', '--test-timeout=1200000'];

test('all tests run unless files are named, and options are passed on', () => {
  assert.deepEqual(testArguments([]), [...common, 'test/kubernetes/**/*.test.ts']);
  assert.deepEqual(testArguments(['a.test.ts', 'b.test.ts']), [...common, 'a.test.ts', 'b.test.ts']);
  assert.deepEqual(testArguments(['--test-name-pattern=drain']), [
    ...common,
    '--test-name-pattern=drain',
    'test/kubernetes/**/*.test.ts',
  ]);
});

test('the other suites have their own files, and share no cluster', () => {
  assert.deepEqual(testArguments(['--judges']), [...common, 'test/judges/**/*.test.ts']);
  assert.equal(sharesCluster(['--judges']), false);
  assert.deepEqual(testArguments(['--upgrade']), [...common, 'test/upgrade/**/*.test.ts']);
  assert.deepEqual(testArguments(['--upgrade', '--test-name-pattern=rollback', 'a.test.ts']), [
    ...common,
    '--test-name-pattern=rollback',
    'a.test.ts',
  ]);
  assert.equal(sharesCluster(['--upgrade']), false);
  assert.equal(sharesCluster(['a.test.ts']), true);
});

test('only a run of all tests builds its binaries before', () => {
  assert.ok(binariesFor([]).includes('promtool'));
  assert.deepEqual(binariesFor(['--test-name-pattern=drain']), binariesFor([]));
  assert.deepEqual(binariesFor(['--test-only', 'a.test.ts']), []);
  assert.ok(!binariesFor(['--upgrade']).includes('promtool'));
  assert.ok(binariesFor(['--upgrade']).includes('helm'));
});

test('each binary is built for some suite, and an earlier Cluster API only for its own', () => {
  const built = [[], ['--upgrade'], ['--judges']].flatMap(binariesFor);
  assert.deepEqual([...new Set(built)].sort(), [...binaryNames].sort());
  assert.ok(!binariesFor([]).includes('cluster-api-core-1.10'));
});
