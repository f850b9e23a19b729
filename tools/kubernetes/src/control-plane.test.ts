import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Component } from './control-plane/component.ts';
import { stopComponentsAtExit, startControlPlane } from './control-plane.ts';

const recording = (name: string, record: string[]): Component => ({
  ports: [],
  pid: 0,
  stop: async () => {
    record.push(`${name} is stopping`);
    await new Promise((resolve) => setImmediate(resolve));
    record.push(`${name} is gone`);
  },
  kill: () => record.push(`${name} is killed`),
});

test('components are stopped one by one, the last started first, and then the folder is deleted', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tartan-stop-'));
  writeFileSync(join(dir, 'etcd.log'), '');
  const record: string[] = [];
  const { stop } = stopComponentsAtExit([recording('etcd', record), recording('kube-apiserver', record)], dir);
  await Promise.all([stop(), stop()]);
  assert.deepEqual(record, [
    'kube-apiserver is stopping',
    'kube-apiserver is gone',
    'etcd is stopping',
    'etcd is gone',
  ]);
  assert.ok(!existsSync(dir));
});

test('a failed start leaves neither a folder nor a listener behind', async (t) => {
  const parent = mkdtempSync(join(tmpdir(), 'tartan-start-'));
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = parent;
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(parent, { recursive: true, force: true });
  });
  const missing = '/nonexistent/binary';
  const binaries = {
    etcd: missing,
    'kube-apiserver': missing,
    'kube-controller-manager': missing,
    'kube-scheduler': missing,
    kubectl: missing,
  };
  const listeners = process.listenerCount('SIGTERM');
  await assert.rejects(startControlPlane({ binaries }), /etcd ended with exit code 127/);
  assert.deepEqual(readdirSync(parent), []);
  assert.equal(process.listenerCount('SIGTERM'), listeners);
});
