import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';

const program = join(import.meta.dirname, 'main.ts');

describe('tartan up', () => {
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
    const heard = new EventTarget();
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        heard.dispatchEvent(new Event('more'));
      });
    }
    const until = (text: string): Promise<void> =>
      new Promise((resolve, reject) => {
        const look = (): void => (output.includes(text) ? resolve() : undefined);
        heard.addEventListener('more', look);
        child.once('close', () => reject(new Error(`it ended before it said "${text}":\n${output}`)));
        look();
      });
    return { child, output: () => output, until };
  };

  const exitCode = async (child: ChildProcess): Promise<number | null> => {
    if (child.exitCode !== null) return child.exitCode;
    const [code] = (await once(child, 'close')) as [number | null];
    return code;
  };

  test('writes a kubeconfig that only its owner can read, and takes everything away on Ctrl-C', async () => {
    const { child, output, until } = start();
    await until('Ctrl-C stops it');
    const kubeconfig = /export KUBECONFIG=(\S+)/.exec(output())?.[1] ?? '';
    assert.equal(dirname(dirname(kubeconfig)), temporary);
    assert.equal(statSync(kubeconfig).mode & 0o777, 0o600);
    child.kill('SIGINT');
    assert.equal(await exitCode(child), 0);
    assert.equal(existsSync(kubeconfig), false);
    assert.deepEqual(readdirSync(temporary), []);
  });

  test('--once ends by itself once everything answers', async () => {
    const { child, output } = start('--once');
    assert.equal(await exitCode(child), 0);
    assert.match(output(), /Kubernetes is up at https:\/\/127\.0\.0\.1:\d+/);
    assert.deepEqual(readdirSync(temporary), []);
  });

  test('a port that is taken gets a sentence and leaves nothing behind', async () => {
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

  test('a port that is none is refused before anything starts', async () => {
    const { child, output } = start('--port', 'http');
    assert.equal(await exitCode(child), 1);
    assert.match(output(), /a port is a whole number/);
  });
});
