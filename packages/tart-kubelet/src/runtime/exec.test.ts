import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { type ExecResult, type ExecSession, TartError } from '@tartan/tart';
import { coalesceResizes, endWithCommand, execInGuest } from './exec.ts';

test('a command that has exited is not killed: its PID may be reused', async () => {
  const ended = Promise.withResolvers<ExecResult>();
  let kills = 0;
  const session: ExecSession = {
    stdin: undefined,
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    resize: async () => {},
    result: ended.promise,
    kill: () => {
      kills += 1;
    },
  };
  const request = { command: ['true'], stdin: false, stdout: true, stderr: true, tty: false };
  const running = execInGuest({ exec: () => session }, manualClock(), 'vm', request);
  running.close();
  assert.equal(kills, 1);
  ended.resolve({ kind: 'failed', error: new TartError('other', 'what tart said', { command: 'exec' }) });
  assert.deepEqual(await running.result, { kind: 'failed', message: 'what tart said' });
  running.close();
  assert.equal(kills, 1);
});

test('terminal resizes are serialized, and the last one wins', async () => {
  const set: number[] = [];
  const gates: (() => void)[] = [];
  const resize = coalesceResizes(({ columns }) => {
    set.push(columns);
    return new Promise((resolve) => gates.push(resolve));
  });
  const width = (columns: number): void => resize({ columns, rows: 24 });
  width(1);
  width(2);
  width(3);
  assert.deepEqual(set, [1]);
  gates.shift()?.();
  await new Promise(setImmediate);
  assert.deepEqual(set, [1, 3]);
  gates.shift()?.();
  await new Promise(setImmediate);
  width(4);
  assert.deepEqual(set, [1, 3, 4]);
});

describe('output of a command', () => {
  test('ends shortly after the command, although the pipe is held open', async () => {
    const [clock, source, ended] = [manualClock(), new PassThrough(), Promise.withResolvers<void>()];
    const said = text(endWithCommand(source, ended.promise, clock));
    source.write('all of it');
    clock.advance(60_000);
    await new Promise(setImmediate);
    ended.resolve();
    await new Promise(setImmediate);
    clock.advance(60_000);
    assert.equal(await said, 'all of it');
    assert.ok(source.destroyed);
  });

  test('includes bytes that arrive after the exit', async () => {
    const source = new PassThrough();
    const said = text(endWithCommand(source, Promise.resolve(), manualClock()));
    await new Promise(setImmediate);
    source.end('late');
    assert.equal(await said, 'late');
  });

  test('is complete for a slow reader', async () => {
    const [clock, source] = [manualClock(), new PassThrough()];
    const output = endWithCommand(source, Promise.resolve(), clock);
    const megabyte = Buffer.alloc(1024 * 1024);
    source.end(megabyte);
    let read = 0;
    for await (const chunk of output) {
      read += chunk.length;
      clock.advance(60_000);
      await new Promise(setImmediate);
    }
    assert.equal(read, megabyte.length);
  });
});
