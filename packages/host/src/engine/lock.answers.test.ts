import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CommandOutcome } from '../connection/connection.ts';
import { acquireLock, type LockOutcome } from './lock.ts';
import { hostRedactor } from './redaction.ts';

const output = (stdout: string, stderr = '') => ({ stdout, stderr });

/** Takes the lock over a connection that answers in this order. */
const acquire = async (...answers: CommandOutcome[]) => {
  const { signal } = new AbortController();
  const commands: string[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  const connection = {
    run: async ({ command, deadline }: { command: string; deadline: number }, by?: AbortSignal) => {
      const [, root, script = ''] = /^exec (sudo -n )?.*echo (\S+) /.exec(command) ?? [];
      const text = Buffer.from(script, 'base64').toString();
      const [, verb] = /^VERB='(\w+)'$/m.exec(text) ?? [];
      const [, owner] = /^LOCK_OWNER='(.+)'$/m.exec(text) ?? [];
      commands.push(`${root ?? ''}${verb} ${deadline} ${owner}`);
      signals.push(by);
      return answers.shift() ?? assert.fail('no answer is left');
    },
  };
  const outcome: LockOutcome = await acquireLock(connection, 'anna', hostRedactor({}), signal);
  const [token = ''] = /anna#[0-9a-f]{16}$/.exec(commands[0] ?? '') ?? [];
  assert.equal(signals[0], signal);
  return { outcome, commands, token };
};

test('a lock is requested only with a unique owner name', async () => {
  const connection = { run: () => assert.fail('no command is sent') };
  for (const owner of ['', 'a#b', 'a\nb', 'free', 'a\tb'])
    await assert.rejects(acquireLock(connection, owner, hostRedactor({})), {
      name: 'TypeError',
      message: /cannot own a lock: printable ASCII/,
    });
});

describe('the answer to a lock request', () => {
  test('gives a token that also releases the lock', async () => {
    const { outcome, commands, token } = await acquire(
      { kind: 'done', ...output('acquired\n') },
      { kind: 'done', ...output('') },
    );
    assert.ok(outcome.kind === 'acquired');
    assert.equal(outcome.token, token);
    assert.deepEqual(commands, [`sudo -n acquire 30000 ${token}`]);
    await outcome.release();
    assert.deepEqual(commands[1], `sudo -n release 30000 ${token}`);
  });

  const since = '2026-01-01T00:00:00.000Z';
  const seconds = Date.parse(since) / 1000;
  const locked: readonly [string, string, LockOutcome][] = [
    [
      'the holder and its step',
      `locked\tben#12\t${seconds}\ta-step\n`,
      { kind: 'locked', by: 'ben', since, step: 'a-step' },
    ],
    ['the holder between two steps', `locked\tben#12\t${seconds}\t-\n`, { kind: 'locked', by: 'ben', since }],
    ['a holder without a token', `locked\tben\t${seconds}\t-\n`, { kind: 'locked', by: 'ben', since }],
  ];
  for (const [what, stdout, expected] of locked)
    test(`names ${what}`, async () => {
      const { outcome, commands } = await acquire({ kind: 'done', ...output(stdout) });
      assert.deepEqual(outcome, expected);
      assert.equal(commands.length, 1);
    });

  for (const stdout of [
    '',
    'acquired',
    'not acquired\n',
    `locked\tben#12\t${seconds}`,
    `locked\tben#12\tsoon\t-`,
    `locked\tben#12\t${seconds}\t-\tmore`,
    `not locked\tben#12\t${seconds}\t-`,
  ])
    test(`is rejected: ${JSON.stringify(stdout)}`, async () => {
      const { outcome } = await acquire({ kind: 'done', ...output(stdout) });
      assert.ok(outcome.kind === 'step failed');
      assert.match(outcome.error.message, /take the lock of the host \(step lock\)/);
      assert.equal(outcome.error.failure, 'rejected');
      assert.equal(outcome.error.tail, `not an answer about the lock: ${stdout}`.trim());
    });

  test('is truncated if it is long', async () => {
    const { outcome } = await acquire({ kind: 'done', ...output('x'.repeat(201)) });
    assert.ok(outcome.kind === 'step failed');
    assert.equal(outcome.error.tail, `not an answer about the lock: ${'x'.repeat(200)}`);
  });

  test('is the error of the script', async () => {
    const { outcome, commands } = await acquire({ kind: 'command failed', code: 3, ...output('out', 'no disk') });
    assert.ok(outcome.kind === 'step failed');
    assert.deepEqual([outcome.error.tail, outcome.error.exitCode], ['no disk', 3]);
    assert.equal(commands.length, 1);
  });

  const done: CommandOutcome = { kind: 'done', ...output('') };
  const interrupted: readonly [CommandOutcome, LockOutcome, released: boolean][] = [
    [{ kind: 'timed out', after: 5, ...output('') }, { kind: 'timed out', during: 'lock', after: 5 }, true],
    [{ kind: 'aborted', ...output('') }, { kind: 'aborted', during: 'lock' }, true],
    [
      { kind: 'connection lost', cause: 'reset', ...output('') },
      { kind: 'connection lost', during: 'lock', cause: 'reset' },
      false,
    ],
  ];
  for (const [answer, expected, released] of interrupted)
    test(`is missing, ${answer.kind}: ${released ? 'the lock is released' : 'nothing can be released'}`, async () => {
      const { outcome, commands, token } = await acquire(answer, done);
      assert.deepEqual(outcome, expected);
      assert.deepEqual(commands.slice(1), released ? [`sudo -n release 30000 ${token}`] : []);
    });
});
