import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';

/** A process that owns one thing, prints `ready`, and then runs `rest`. Returns its output and how it ended. */
const owner = async (
  rest: string,
  signals: NodeJS.Signals[] = [],
): Promise<{ output: string; code: number | null; signal: string | null }> => {
  const text = `
    import { stopAtExit } from ${JSON.stringify(join(import.meta.dirname, 'stop-at-exit.ts'))};
    const say = (text) => require('node:fs').writeSync(1, text + '\\n');
    const require = (await import('node:module')).createRequire(import.meta.url);
    const release = stopAtExit({
      stop: async () => { say('stop'); await new Promise((done) => setImmediate(done)); release(); say('stopped'); },
      killNow: () => say('kill'),
    });
    const stuck = () => stopAtExit({ stop: () => { say('stuck'); return new Promise(() => {}); }, killNow: () => say('kill the stuck') });
    const idle = setInterval(() => {}, 1000);
    ${rest}
    say('ready');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  const waiting = [...signals];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (/ready|stuck/.test(chunk.toString())) {
      const next = waiting.shift();
      if (next !== undefined) child.kill(next);
    }
  });
  await once(child, 'close');
  return { output, code: child.exitCode, signal: child.signalCode };
};

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  test(`on ${signal} everything registered is stopped in order, and the process ends by that signal`, async () => {
    assert.deepEqual(await owner('', [signal]), { output: 'ready\nstop\nstopped\n', code: null, signal });
  });
}

test('on exit everything registered is killed', async () => {
  assert.deepEqual(await owner('process.exit(4);'), { output: 'kill\n', code: 4, signal: null });
});

test('on an exception everything registered is killed', async () => {
  const { output, code } = await owner(`throw new Error('x');`);
  assert.equal(output, 'kill\n');
  assert.equal(code, 1);
});

test('an unregistered process keeps running', async () => {
  assert.deepEqual(await owner('release(); clearInterval(idle);'), { output: 'ready\n', code: 0, signal: null });
});

test('a second signal does not wait, and leaves nothing behind', async () => {
  const { output, signal } = await owner('stuck();', ['SIGINT', 'SIGTERM']);
  assert.match(output, /kill the stuck/);
  assert.equal(signal, 'SIGTERM');
});

test('a process registered during the stop is killed', async () => {
  const late = `const later = stopAtExit({
    stop: async () => { later(); stopAtExit({ stop: async () => say('late'), killNow: () => say('kill the late') }); },
    killNow: () => say('kill'),
  });`;
  const { output, signal } = await owner(late, ['SIGTERM']);
  assert.equal(output, 'ready\nstop\nstopped\nkill the late\n');
  assert.equal(signal, 'SIGTERM');
});
