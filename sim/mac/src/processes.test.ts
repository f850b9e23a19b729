import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { environmentOf } from './processes.ts';

// Only Linux shows the environment as a file, which is empty for an instant during execve(2).
if (existsSync('/proc/self/environ'))
  describe('the environment of a process', { timeout: 60_000 }, () => {
    const reads = 10_000;

    test('is seen while the process is replaced by exec', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'tartan-exec-'));
      const script = join(folder, 'again');
      writeFileSync(script, '#!/bin/sh\nexec "$0"\n', { mode: 0o755 });
      const child = spawn(script, { env: { MARK: 'here' }, stdio: 'ignore' });
      const { pid = 0 } = child;
      let missed = 0;
      for (let read = 0; read < reads; read += 1) if (!environmentOf(pid).includes('MARK=here')) missed += 1;
      child.kill('SIGKILL');
      await once(child, 'exit');
      rmSync(folder, { recursive: true });
      assert.equal(missed, 0, `${missed} of ${reads} reads`);
    });

    test('is empty for a process without one, and for one that is gone', async () => {
      const child = spawn('/bin/sleep', ['1000'], { env: {}, stdio: 'ignore' });
      assert.deepEqual(environmentOf(child.pid ?? 0), []);
      child.kill('SIGKILL');
      await once(child, 'exit');
      assert.deepEqual(environmentOf(child.pid ?? 0), []);
    });
  });
