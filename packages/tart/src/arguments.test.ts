import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkReference, checkVmName, runArguments } from './arguments.ts';
import { isTartError } from './tart-error.ts';

const invalid = (error: unknown): boolean => isTartError(error, 'invalid');

describe('arguments of tart commands', () => {
  test('rejects VM names that look like options or paths', () => {
    for (const name of ['a', 'tuist-golden-0123', 'ns-pod.1', 'A_b']) checkVmName('get', name);
    for (const name of ['', '-x', '--all', 'a/b', '..', '.', 'a b', 'a\nb', 'ä'])
      assert.throws(() => checkVmName('get', name), invalid, name);
  });

  test('requires a registry in image references', () => {
    const digest = `sha256:${'0'.repeat(64)}`;
    for (const image of [
      'ghcr.io/a/b:1',
      'localhost:5000/a:latest',
      'ghcr.io/a/b',
      `ghcr.io/a/b@${digest}`,
      `ghcr.io/a:1@${digest}`,
    ])
      checkReference('pull', image);
    for (const image of ['', 'a', '-x/y', 'ghcr.io/a b', 'ghcr.io/a@sha256:1', 'https://ghcr.io/a'])
      assert.throws(() => checkReference('pull', image), invalid, image);
  });

  test('tart run gets the VM name first, then shares in the syntax of --dir', () => {
    const shares = [
      { name: 'env', path: '/x/env', readOnly: true },
      { name: 'status', path: '/x/status', readOnly: false },
    ];
    assert.deepEqual(
      runArguments('vm-1', { logFile: '', shares }),
      'run vm-1 --no-graphics --root-disk-opts caching=cached --dir env:/x/env:ro --dir status:/x/status'.split(' '),
    );
    for (const share of [
      { name: 'a:b', path: '/x', readOnly: true },
      { name: 'a', path: '/x:rw', readOnly: true },
      { name: 'a', path: 'x', readOnly: true },
    ])
      assert.throws(() => runArguments('vm', { logFile: '', shares: [share] }), invalid);
  });
});
