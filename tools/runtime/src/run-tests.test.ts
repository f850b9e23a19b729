import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';

const program = join(import.meta.dirname, 'run-tests.ts');

/** Test files of all kinds, each named after its outcome. */
const files: Readonly<Record<string, string>> = {
  passes: "test('one', () => {}); describe('some', () => { test('two', () => {}); test.skip('three'); });",
  passesToo: "test('four', () => {});",
  begins: "test('all files are there', () => { if (!('all' in globalThis)) throw new Error('too early'); });",
  begunLater: 'await new Promise((resolve) => setTimeout(resolve, 20)); globalThis.all = true;',
  fails: "test('is wrong', () => { throw new Error('on purpose'); });",
  'test/system/fleet': "test('a fleet', () => {});",
  'packages/kube/some.slow': "test('slow', () => {});",
  cannotBeLoaded: "import './nowhere.ts';",
  rejects:
    "test('loses', async () => { await null; Promise.reject(new Error('lost promise')); await new Promise((resolve) => setTimeout(resolve)); });",
  throws:
    "test('throws', async () => { await null; await new Promise((resolve) => setTimeout(() => { resolve(); throw new Error('lost timer'); })); });",
  exits: "test('a', () => {}); test('ends it', () => process.exit(0)); test('never', () => {});",
  waits: `
    import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    process.on('exit', () => writeFileSync('temporary/cleaned-up', ''));
    test('waits', async () => {
      const child = spawn('sleep', ['600']);
      console.log('pids', process.pid, child.pid);
      await new Promise(() => setInterval(() => {}, 1000));
    });`,
};

describe('npm test', { timeout: 120_000 }, () => {
  let folder = '';
  let temporary = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-run-tests-'));
    temporary = join(folder, 'temporary');
    mkdirSync(temporary);
    for (const tier of ['test/system', 'packages/kube']) mkdirSync(join(folder, tier), { recursive: true });
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, `${name}.test.ts`), `import { describe, test } from 'node:test';\n${text}\n`);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const start = (...args: string[]) => {
    // Otherwise node takes it for a test file, and parses its output as events.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    return spawn(process.execPath, [program, ...args], {
      cwd: folder,
      env: { ...env, TMPDIR: temporary },
    });
  };
  const run = async (...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> => {
    const child = start(...args);
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    const [code] = (await once(child, 'close')) as [number | null];
    assert.deepEqual(readdirSync(temporary), [], 'nothing is left behind');
    return { code, stdout, stderr };
  };

  test('ends with the sum of all files', async () => {
    const { code, stderr, stdout } = await run('passes*.test.ts');
    assert.equal(code, 0, stdout + stderr);
    for (const line of ['ℹ tests 4', 'ℹ suites 1', 'ℹ pass 3', 'ℹ fail 0', 'ℹ skipped 1'])
      assert.ok(stdout.includes(`${line}\n`), stdout);
    assert.match(stderr, /^✔ 1 of 1: .*\(2 files\), \d+\.\d s\n$/);
  });

  test('shows failures at the end, and files that could not be loaded', async () => {
    const { code, stdout } = await run('passes.test.ts', 'fails.test.ts', 'cannotBeLoaded.test.ts');
    assert.equal(code, 1);
    assert.match(stdout, /ℹ pass 2\nℹ fail 2\n/);
    const [, failures = ''] = stdout.split('failing tests:');
    assert.match(failures, /test at fails\.test\.ts:2:1\n.*is wrong.*\n.*on purpose/);
    assert.match(failures, /cannotBeLoaded\.test\.ts can be loaded.*\n.*nowhere\.ts/);
  });

  test('starts no test before all files of its process are loaded', async () => {
    const { code, stdout } = await run('beg*.test.ts');
    assert.equal(code, 0, stdout);
  });

  test('fails when a process ends early, even with exit code 0', async () => {
    const { code, stdout } = await run('exits.test.ts');
    assert.equal(code, 1);
    assert.match(stdout, /A process ended before all of its tests had.*\n {4}exits\.test\.ts\n$/);
  });

  for (const [name, message] of [
    ['rejects', 'lost promise'],
    ['throws', 'lost timer'],
  ] as const)
    test(`fails when a test ${name} outside of its promise, and shows where`, async () => {
      const { code, stdout } = await run(`${name}.test.ts`);
      assert.equal(code, 1);
      assert.match(stdout, new RegExp(`Error: ${message}\n +at .*${name}.test.ts:2:`));
    });

  test('passes options to the test runner', async () => {
    const { code, stdout } = await run('passes.test.ts', '--test-name-pattern=two');
    assert.equal(code, 0);
    assert.match(stdout, /ℹ tests 1\n/);
  });

  for (const [what, args, ran] of [
    ['the files of its tier', [], ['a fleet', 'slow']],
    ['only the named files', ['test/system/*.test.ts'], ['a fleet']],
  ] as const)
    test(`with --fleet runs ${what}`, async () => {
      const { code, stdout, stderr } = await run('--fleet', ...args);
      assert.equal(code, 0, stdout + stderr);
      assert.deepEqual(new Set([...stdout.matchAll(/^✔ (.+) \(/gm)].map(([, name]) => name)), new Set(ran));
    });

  test('fails when a named file does not exist', async () => {
    const { code, stderr, stdout } = await run('passes.test.ts', 'nothing/**/*.test.ts');
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.equal(stderr, 'No test file matches nothing/**/*.test.ts.\n');
  });

  const isThere = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const)
    test(`leaves no process behind after ${signal}, nor processes started by tests`, async () => {
      const child = start('waits.test.ts');
      const exited = once(child, 'exit');
      const pids = await new Promise<number[]>((resolve) => {
        child.stdout.on('data', (chunk) => {
          const [, ...found] = /pids (\d+) (\d+)/.exec(String(chunk)) ?? [];
          if (found.length > 0) resolve(found.map(Number));
        });
      });
      assert.deepEqual(pids.map(isThere), [true, true]);
      child.kill(signal);
      const [code] = (await exited) as [number | null];
      assert.notEqual(code, 0);
      // A killed process does not wait for its children.
      await eventually('all are gone', () => !pids.some(isThere));
      const left = readdirSync(temporary);
      // On exit, tests may end what they have started. A killed process cannot even remove its own folder.
      if (signal !== 'SIGKILL') assert.deepEqual(left, ['cleaned-up']);
      for (const each of left) rmSync(join(temporary, each), { recursive: true });
    });
});
