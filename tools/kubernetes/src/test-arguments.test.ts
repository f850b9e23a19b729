import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { binaryNames } from './build/recipes.ts';
import { formatKubeconfig } from './control-plane/kubeconfig.ts';
import { backgroundTestArguments, binariesFor, chooseCluster, sharesCluster, testArguments } from './test-arguments.ts';

test('all tests run unless files are named, and options are passed on', () => {
  assert.deepEqual(testArguments([]), ['--test', 'test/kubernetes/**/*.test.ts']);
  assert.deepEqual(testArguments(['a.test.ts', 'b.test.ts']), ['--test', 'a.test.ts', 'b.test.ts']);
  assert.deepEqual(testArguments(['--test-name-pattern=drain']), [
    '--test',
    '--test-name-pattern=drain',
    'test/kubernetes/**/*.test.ts',
  ]);
});

test('the upgrade tests are others, and share no cluster', () => {
  assert.deepEqual(testArguments(['--upgrade']), ['--test', 'test/upgrade/**/*.test.ts']);
  assert.deepEqual(testArguments(['--upgrade', '--test-name-pattern=rollback', 'a.test.ts']), [
    '--test',
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

const kubeconfig = (t: TestContext, url: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-choose-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'config');
  writeFileSync(path, formatKubeconfig({ url, caCertificate: '', token: 'x' }));
  return path;
};

test('without KUBECONFIG the tests start a control plane of their own', () => {
  assert.deepEqual(chooseCluster({}), {});
  assert.deepEqual(chooseCluster({ KUBECONFIG: '' }), {});
});

test('a cluster on this machine is used as it is', (t) => {
  for (const url of ['https://127.0.0.1:6443', 'https://localhost:6443', 'https://[::1]:6443']) {
    const path = kubeconfig(t, url);
    assert.deepEqual(chooseCluster({ KUBECONFIG: path }), { existing: path, url });
  }
});

test('a cluster elsewhere is used only on request', (t) => {
  const url = 'https://production.example.com:6443';
  const path = kubeconfig(t, url);
  const choice = chooseCluster({ KUBECONFIG: path });
  assert.ok('note' in choice && choice.note?.includes(url) && choice.note.includes('TARTAN_TEST_EXISTING_CLUSTER=1'));
  assert.deepEqual(chooseCluster({ KUBECONFIG: path, TARTAN_TEST_EXISTING_CLUSTER: '1' }), { existing: path, url });
});
