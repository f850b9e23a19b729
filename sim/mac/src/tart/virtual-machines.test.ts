import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { clearVmState } from './virtual-machines.ts';

test('after a power cut the state of virtual machines is cleared, and processes that reuse their pids are not killed', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'tartan-tart-'));
  const stranger = spawn('sleep', ['600'], { stdio: 'ignore', detached: true });
  const exited = once(stranger, 'exit');
  t.after(async () => {
    stranger.kill('SIGKILL');
    await exited;
    rmSync(home, { recursive: true });
  });
  const write = (path: string): string => {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), `${stranger.pid}\n`);
    return join(home, path);
  };
  const traces = [
    `.fake/running/${stranger.pid}`,
    `.fake/leaked/${stranger.pid}`,
    '.fake/locks/start',
    'tmp/part/.lock',
    'vms/a/.pid',
    'vms/a/.children',
    'vms/a/.agent',
    'vms/a/control.sock',
  ].map(write);
  const kept = ['vms/a/disk.img', '.fake/leases/7e:00', 'tmp/part/disk.img'].map(write);
  clearVmState(home);
  assert.deepEqual(traces.filter(existsSync), []);
  assert.deepEqual(kept.filter(existsSync), kept);
  assert.equal(stranger.exitCode ?? stranger.signalCode, null);
});
