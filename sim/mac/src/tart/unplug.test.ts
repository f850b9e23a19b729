import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { forgetVms } from './unplug.ts';

test('what a power cut left of virtual machines is forgotten, and nobody is ended who has their numbers now', async (t) => {
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
  forgetVms(home);
  assert.deepEqual(traces.filter(existsSync), []);
  assert.deepEqual(kept.filter(existsSync), kept);
  assert.equal(stranger.exitCode ?? stranger.signalCode, null);
});
