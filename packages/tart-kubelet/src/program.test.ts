import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { argumentsHash } from '@tartan/host';
import { runAgent } from './program.ts';

const started = async (words: readonly string[], expected?: readonly string[]) => {
  const folder = await mkdtemp(join(tmpdir(), 'program-'));
  const output: string[] = [];
  const complaints: string[] = [];
  try {
    if (expected !== undefined) await writeFile(join(folder, 'arguments'), `${argumentsHash(expected)}\n`);
    const code = await runAgent(words, {
      env: { TARTAN_ROOT: folder, PATH: process.env['PATH'] },
      hostname: 'mac-1',
      folder,
      stdout: (text) => output.push(text),
      stderr: (text) => complaints.push(text),
      signal: AbortSignal.abort(),
    });
    return { code, output: output.join(''), complaints: complaints.join('') };
  } finally {
    await rm(folder, { recursive: true });
  }
};

describe('the tart-kubelet program', () => {
  test('runs with the arguments of its release until it is stopped', async () => {
    const { code, complaints } = await started(['--node-name=mac-1'], ['--node-name=mac-1']);
    assert.equal(code, 0, complaints);
    assert.match(complaints, /The agent starts/);
  });

  test('exits with 78 and the reason when the arguments are of another release', async () => {
    const { code, complaints } = await started(['--node-name=mac-1'], ['--node-name=mac-1', '--disable-vm-gc']);
    assert.equal(code, 78);
    assert.match(complaints, /^This release expects other arguments .+ roll .+\.\n$/);
    assert.equal((await started(['--flag-of-another-release'], [])).code, 78);
  });

  test('exits with 2 and suggests the nearest flag for an unknown flag', async () => {
    const { code, complaints } = await started(['--disable-gc']);
    assert.equal(code, 2);
    assert.match(complaints, /the nearest is --disable-vm-gc/);
  });

  test('starts as a process and prints its version and flags (INC-01)', async () => {
    const main = join(import.meta.dirname, 'main.ts');
    const run = (flag: string) => promisify(execFile)(process.execPath, [main, flag], { timeout: 60_000 });
    assert.match((await run('--version')).stdout, /^v\d+\.\d+\.\d+\n$/);
    assert.match((await run('--help')).stdout, /--kubeconfig <path>/);
  });
});
