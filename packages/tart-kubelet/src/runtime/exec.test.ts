import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { type ExecEnd, type ExecSession, TartError } from '@tartan/tart';
import { execInGuest } from './exec.ts';

test('a command that has ended is not killed: its number may be given out again', async () => {
  const ended = Promise.withResolvers<ExecEnd>();
  let kills = 0;
  const session: ExecSession = {
    stdin: undefined,
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    resize: async () => {},
    ended: ended.promise,
    kill: () => {
      kills += 1;
    },
  };
  const request = { command: ['true'], stdin: false, stdout: true, stderr: true, tty: false };
  const running = execInGuest({ exec: () => session }, manualClock(), 'vm', request);
  running.end();
  assert.equal(kills, 1);
  ended.resolve({ kind: 'failed', error: new TartError('other', 'what tart said', { command: 'exec' }) });
  assert.deepEqual(await running.outcome, { kind: 'failed', message: 'what tart said' });
  running.end();
  assert.equal(kills, 1);
});
