import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';

const program = join(import.meta.dirname, '../../packages/cli/src/main.ts');

describe('tartan up', { timeout: 180_000 }, () => {
  let temporary: string;
  before(async () => {
    temporary = await mkdtemp(join(tmpdir(), 'tartan-up-test-'));
  });
  after(() => rm(temporary, { recursive: true, force: true }));

  const start = (
    ...args: string[]
  ): { child: ChildProcess; output: () => string; until: (text: string) => Promise<void> } => {
    const child = spawn(process.execPath, [program, 'up', ...args], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const outputEvents = new EventTarget();
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        outputEvents.dispatchEvent(new Event('more'));
      });
    }
    const until = (text: string): Promise<void> =>
      new Promise((resolve, reject) => {
        const check = (): void => (output.includes(text) ? resolve() : undefined);
        outputEvents.addEventListener('more', check);
        child.once('close', () => reject(new Error(`it ended before it said "${text}":\n${output}`)));
        check();
      });
    return { child, output: () => output, until };
  };

  const exitCode = async (child: ChildProcess): Promise<number | null> => {
    if (child.exitCode !== null) return child.exitCode;
    const [code] = (await once(child, 'close')) as [number | null];
    return code;
  };

  test('shows how machines become Nodes and a Pod becomes a VM, prints commands to try, and removes everything on Ctrl-C', async () => {
    const { child, output, until } = start('--pool', '2', '--machines', '1');
    await until('Ctrl-C stops the fleet');
    const kubeconfig = /export KUBECONFIG=(\S+)/.exec(output())?.[1] ?? '';
    assert.equal(dirname(dirname(kubeconfig)), temporary);
    assert.equal(statSync(kubeconfig).mode & 0o777, 0o600);
    const said = output();
    for (const what of [
      /2 simulated Macs at a simulated Scaleway/,
      /tartan-macos-\S+ +Adopted/,
      /tartan-macos-\S+ +joined: /,
      /tartan-macos-\S+ .*its Node is Ready, with agent v0\.1\.0/,
      /1 machine Ready/,
      /tartan fleet\n +MACHINE .*\n +tartan-macos-\S+ .*\bheld\b.* 1\/2 build-1\n/,
      /kubectl logs build-1\n +The guest has booted/,
    ])
      assert.match(said, what);
    // A pipe is not a terminal.
    assert.ok(!said.includes('\u001B') && !said.includes('Enter rolls'));
    child.kill('SIGINT');
    assert.equal(await exitCode(child), 0);
    assert.match(output(), /Nothing was left behind/);
    assert.deepEqual(readdirSync(temporary), []);
  });

  test('--once ends by itself once a Pod runs on the first machine and its log is readable', async () => {
    const { child, output } = start('--once', '--pool', '1', '--machines', '1');
    assert.equal(await exitCode(child), 0, output());
    assert.match(output(), /Kubernetes is up at https:\/\/127\.0\.0\.1:\d+/);
    assert.match(output(), /The Pod build-1 runs, as a virtual machine/);
    assert.match(output(), /kubectl logs build-1\n +\S/);
    assert.deepEqual(readdirSync(temporary), []);
  });

  test('a port that is in use is reported, and nothing is left behind', async () => {
    const taken = createServer();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { child, output } = start('--port', String(port));
    assert.equal(await exitCode(child), 1);
    assert.match(output(), new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is already in use`));
    assert.deepEqual(readdirSync(temporary), []);
    taken.close();
  });

  test('an invalid port is refused before anything starts', async () => {
    const { child, output } = start('--port', 'http');
    assert.equal(await exitCode(child), 2);
    assert.match(output(), /a port is a whole number/);
  });

  test('a pool without Macs is refused before anything starts', async () => {
    const { child, output } = start('--pool', '0');
    assert.equal(await exitCode(child), 2);
    assert.match(output(), /a whole number from 1 to 64/);
  });
});
