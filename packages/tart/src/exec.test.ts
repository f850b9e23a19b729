import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { collectOutput, type ExecResult } from './exec.ts';
import { exitCause, readLogTail, type RunningVm } from './run.ts';
import { createTartHarness, type TartHarness } from './testing/tart-harness.ts';

const reasonOf = (end: ExecResult): string => (end.kind === 'failed' ? end.error.reason : `exited ${end.code}`);

describe('a command in a guest', () => {
  let bench: TartHarness;
  let vm: RunningVm;
  beforeEach(async () => {
    bench = createTartHarness();
    bench.fake.addVm('vm');
    const shared = join(bench.folder, 'shared');
    mkdirSync(shared);
    writeFileSync(join(shared, 'hello'), 'from the Mac');
    vm = await bench.tart.run('vm', {
      logFile: join(bench.folder, 'log'),
      shares: [{ name: 'env', path: shared, readOnly: true }],
    });
    await eventually('its agent answers', async () => (await run('true')) === 'exited 0');
  });
  afterEach(() => bench.remove());

  const run = async (...command: string[]): Promise<string> =>
    reasonOf((await collectOutput(bench.tart.exec('vm', command), 1000)).result);

  test('returns its output and exit code', async () => {
    const { result, stdout, stderr, truncated } = await collectOutput(
      bench.tart.exec('vm', ['sh', '-c', 'echo out; echo err >&2; exit 7']),
      1000,
    );
    assert.deepEqual([reasonOf(result), stdout, stderr, truncated], ['exited 7', 'out\n', 'err\n', false]);
  });

  test('exit codes 1 and 2 with other text belong to the command', async () => {
    for (const code of [1, 2]) assert.equal(await run('sh', '-c', `echo oh no >&2; exit ${code}`), `exited ${code}`);
    assert.equal(await run('sh', '-c', 'echo one >&2; echo VM \\"x\\" is not running >&2; exit 2'), 'exited 2');
  });

  test('reads stdin only if stdin was requested', async () => {
    const session = bench.tart.exec('vm', ['cat'], { stdin: true });
    session.stdin?.end('in and out');
    assert.equal(await text(session.stdout), 'in and out');
    assert.equal(reasonOf(await session.result), 'exited 0');
    assert.equal(await run('cat'), 'exited 0');
  });

  test('sees the shared folders', async () => {
    const { stdout } = await collectOutput(bench.tart.exec('vm', ['cat', 'Volumes/My Shared Files/env/hello']), 1000);
    assert.equal(stdout, 'from the Mac');
  });

  test('is throttled by its reader, and killed at the output limit', async () => {
    const { truncated, stdout, result } = await collectOutput(bench.tart.exec('vm', ['yes']), 10_000);
    assert.deepEqual([truncated, stdout.length, reasonOf(result)], [true, 10_000, 'aborted']);
    const session = bench.tart.exec('vm', ['yes']);
    await eventually('it writes', () => session.stdout.readableLength > 0);
    assert.ok(session.stdout.readableLength < 1_000_000);
    session.kill();
    assert.equal(reasonOf(await session.result), 'aborted');
  });

  test('ends at its deadline or when its caller aborts', async () => {
    assert.equal(reasonOf(await bench.tart.exec('vm', ['sleep', '60'], { deadlineMs: 50 }).result), 'timed out');
    const controller = new AbortController();
    const session = bench.tart.exec('vm', ['sleep', '60'], { signal: controller.signal });
    controller.abort();
    assert.equal(reasonOf(await session.result), 'aborted');
  });

  test('fails without a guest agent, in a stopped VM and in a missing VM', async () => {
    bench.fake.controls.guest('vm', { agent: 'absent' });
    assert.equal(await run('true'), 'guest agent unreachable');
    bench.fake.controls.guest('vm', { agent: undefined });
    await bench.tart.stop('vm', { timeoutSeconds: 60 });
    assert.equal(await run('true'), 'not running');
    assert.equal(reasonOf(await bench.tart.exec('x', ['true']).result), 'missing');
    assert.equal(reasonOf(await bench.driver({ path: '/nowhere/tart' }).exec('vm', ['true']).result), 'not installed');
  });

  test('can shut the guest down', async () => {
    assert.equal(await run('sudo', 'shutdown', '-h', 'now'), 'exited 0');
    assert.deepEqual(exitCause(await vm.exited, await readLogTail(vm.logFile)), { kind: 'halted' });
  });

  test('gets a terminal of the requested size, and sees a resize', async () => {
    const session = bench.tart.exec('vm', ['sh', '-c', 'test -t 0 && stty size; read line; stty size; exit 5'], {
      stdin: true,
      tty: { rows: 24, columns: 91 },
    });
    let said = '';
    session.stdout.on('data', (chunk) => {
      said += String(chunk);
    });
    await eventually('it has its size', () => said.includes('24 91'));
    await session.resize({ rows: 50, columns: 132 });
    session.stdin?.write('go\n');
    assert.equal(reasonOf(await session.result), 'exited 5');
    await eventually('it has its new size', () => said.includes('50 132'));
  });

  test('ends up with the last size when a resize follows at once', async () => {
    const slow = join(bench.folder, 'slow');
    mkdirSync(slow);
    const script = '#!/bin/sh\ncase "$*" in *raw*) sleep 0.1 ;; esac\nPATH=${PATH#*:} exec stty "$@"\n';
    writeFileSync(join(slow, 'stty'), script, { mode: 0o755 });
    const environment = { ...bench.environment, PATH: `${slow}:${bench.environment['PATH']}` };
    const session = bench.driver({ environment }).exec('vm', ['sh', '-c', 'read line; stty size'], {
      stdin: true,
      tty: { rows: 24, columns: 80 },
    });
    await session.resize({ rows: 50, columns: 132 });
    session.stdin?.write('go\n');
    assert.match(await text(session.stdout), /50 132/);
    assert.equal(reasonOf(await session.result), 'exited 0');
  });
});
