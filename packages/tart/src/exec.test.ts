import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { collectExec } from './collect.ts';
import type { ExecEnd } from './exec.ts';
import { runEnding, readLogTail } from './run-ending.ts';
import type { RunningVm } from './run.ts';
import { until } from './testing/until.ts';
import { type Bench, withFakeTart } from './testing/with-fake-tart.ts';

const reasonOf = (end: ExecEnd): string => (end.kind === 'failed' ? end.error.reason : `exited ${end.code}`);

describe('a command in a guest', () => {
  let bench: Bench;
  let vm: RunningVm;
  beforeEach(async () => {
    bench = withFakeTart();
    bench.fake.addVm('vm');
    const shared = join(bench.folder, 'shared');
    mkdirSync(shared);
    writeFileSync(join(shared, 'hello'), 'from the Mac');
    vm = await bench.tart.run('vm', {
      logFile: join(bench.folder, 'log'),
      shares: [{ name: 'env', path: shared, readOnly: true }],
    });
    await until(async () => (await run('true')) === 'exited 0', 'its agent answers');
  });
  afterEach(() => bench.remove());

  const run = async (...command: string[]): Promise<string> =>
    reasonOf((await collectExec(bench.tart.exec('vm', command), 1000)).end);

  test('has its output and its exit code', async () => {
    const { end, stdout, stderr, cut } = await collectExec(
      bench.tart.exec('vm', ['sh', '-c', 'echo out; echo err >&2; exit 7']),
      1000,
    );
    assert.deepEqual([reasonOf(end), stdout, stderr, cut], ['exited 7', 'out\n', 'err\n', false]);
  });

  test('exit codes 1 and 2 with any text are its own', async () => {
    for (const code of [1, 2]) assert.equal(await run('sh', '-c', `echo oh no >&2; exit ${code}`), `exited ${code}`);
    assert.equal(await run('sh', '-c', 'echo one >&2; echo VM \\"x\\" is not running >&2; exit 2'), 'exited 2');
  });

  test('reads what is written to it, and nothing otherwise', async () => {
    const session = bench.tart.exec('vm', ['cat'], { stdin: true });
    session.stdin?.end('in and out');
    assert.equal(await text(session.stdout), 'in and out');
    assert.equal(reasonOf(await session.ended), 'exited 0');
    assert.equal(await run('cat'), 'exited 0');
  });

  test('sees what is shared with it', async () => {
    const { stdout } = await collectExec(bench.tart.exec('vm', ['cat', 'Volumes/My Shared Files/env/hello']), 1000);
    assert.equal(stdout, 'from the Mac');
  });

  test('writes no faster than it is read, and is cut when it does not end', async () => {
    const { cut, stdout, end } = await collectExec(bench.tart.exec('vm', ['yes']), 10_000);
    assert.deepEqual([cut, stdout.length, reasonOf(end)], [true, 10_000, 'aborted']);
    const session = bench.tart.exec('vm', ['yes']);
    await until(() => session.stdout.readableLength > 0, 'it writes');
    assert.ok(session.stdout.readableLength < 1_000_000);
    session.kill();
    assert.equal(reasonOf(await session.ended), 'aborted');
  });

  test('has a deadline, and an end by its caller', async () => {
    assert.equal(reasonOf(await bench.tart.exec('vm', ['sleep', '60'], { deadlineMs: 50 }).ended), 'timed out');
    const controller = new AbortController();
    const session = bench.tart.exec('vm', ['sleep', '60'], { signal: controller.signal });
    controller.abort();
    assert.equal(reasonOf(await session.ended), 'aborted');
  });

  test('needs an agent, a machine that is on, and a machine', async () => {
    bench.fake.controls.guest('vm', { agent: 'absent' });
    assert.equal(await run('true'), 'guest agent unreachable');
    bench.fake.controls.guest('vm', { agent: undefined });
    await bench.tart.stop('vm', { timeoutSeconds: 5 });
    assert.equal(await run('true'), 'not running');
    assert.equal(reasonOf(await bench.tart.exec('x', ['true']).ended), 'missing');
    assert.equal(reasonOf(await bench.driver({ path: '/nowhere/tart' }).exec('vm', ['true']).ended), 'not installed');
  });

  test('may shut the guest down', async () => {
    assert.equal(await run('sudo', 'shutdown', '-h', 'now'), 'exited 0');
    assert.deepEqual(runEnding(await vm.exited, await readLogTail(vm.logFile)), { kind: 'halted' });
  });

  test('has a terminal of the asked size, and learns of a new one', async () => {
    const session = bench.tart.exec('vm', ['sh', '-c', 'test -t 0 && stty size; read line; stty size; exit 5'], {
      stdin: true,
      tty: { rows: 24, columns: 91 },
    });
    let said = '';
    session.stdout.on('data', (chunk) => {
      said += String(chunk);
    });
    await until(() => said.includes('24 91'), 'it has its size');
    await session.resize({ rows: 50, columns: 132 });
    session.stdin?.write('go\n');
    assert.equal(reasonOf(await session.ended), 'exited 5');
    await until(() => said.includes('50 132'), 'it has its new size');
  });

  test('has the size that it was told last, also when that came at once', async () => {
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
    assert.equal(reasonOf(await session.ended), 'exited 0');
  });
});
