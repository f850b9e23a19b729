import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type HostOutcome, StepError, type StepFailure } from '@tartan/host';
import { createRedactor } from '@tartan/kube';
import { outcomeOfConnection, outcomeOfHost, outcomeOfRollBack, type WorkOutcome } from './host-work.ts';

const stepError = (failure: StepFailure): StepError =>
  new StepError({ name: 'tart', title: 'install tart' }, { failure, output: 'what the Mac said' }, createRedactor());
const failed = (failure: StepFailure): HostOutcome => ({ kind: 'step failed', error: stepError(failure) });

describe('the outcome of host work', () => {
  const rows: readonly [HostOutcome, WorkOutcome['kind'], RegExp][] = [
    [failed('rejected'), 'rejected', /what the Mac said/],
    [failed('wrong password'), 'rejected', /refused the password/],
    [failed('no root'), 'rejected', /sudo needs a password/],
    [failed('no result'), 'rejected', /printed no result/],
    [failed('not stamped'), 'rejected', /stamp/],
    [failed('secret refused'), 'rejected', /nothing was sent/],
    [failed('artifact not pushed'), 'rejected', /could not be pushed/],
    [failed('timed out'), 'rejected', /timed out/],
    [failed('lock lost'), 'locked', /lock/],
    [{ kind: 'locked', by: 'manager-2', since: '2026-01-01T00:00:00.000Z' }, 'locked', /manager-2, since 2026/],
    [{ kind: 'locked', by: 'm', since: '2026', step: 'tart' }, 'locked', /in step tart/],
    [
      { kind: 'unsuitable host', objections: [{ what: 'FileVault is on', advice: 'Turn it off.' }] },
      'rejected',
      /Nothing was changed.*FileVault is on\. Turn it off\./,
    ],
    [{ kind: 'unreadable host', cause: 'not an inventory' }, 'rejected', /not an inventory/],
    [{ kind: 'connection lost', during: 'tart', cause: 'ECONNRESET' }, 'unreachable', /tart: ECONNRESET/],
    [{ kind: 'timed out', during: 'tart', after: 60_000 }, 'unreachable', /tart within 60 s/],
  ];
  for (const [outcome, kind, text] of rows) {
    const what = outcome.kind === 'step failed' ? outcome.error.failure : outcome.kind;
    test(`is ${kind} for: ${what}`, () => {
      const found = outcomeOfHost(outcome);
      assert.equal(found.kind, kind);
      assert.ok('message' in found && text.test(found.message), JSON.stringify(found));
    });
  }

  test('names the step that failed', () => {
    const found = outcomeOfHost(failed('rejected'));
    assert.ok(found.kind === 'rejected' && found.step === 'tart');
  });

  test('is aborted when the signal of the caller fired', () => {
    assert.deepEqual(outcomeOfHost({ kind: 'aborted', during: 'tart' }), { kind: 'aborted' });
  });

  test('is done, with deferred steps and optional failures', () => {
    const deferred = [{ step: 'tart', reason: 'the host is not idle' }] as const;
    const optionalFailures = [stepError('timed out')];
    const outcome = { deferred, optionalFailures, stamps: {}, summary: 'abc', rebootPending: true };
    assert.deepEqual(outcomeOfHost({ kind: 'converged', ...outcome }), {
      kind: 'done',
      summary: 'abc',
      deferred,
      optionalFailures: [stepError('timed out').message],
      rebootPending: true,
    });
  });

  test('is the same for a rollback', () => {
    assert.deepEqual(outcomeOfRollBack({ kind: 'rolled back', summary: 'abc', rebootPending: false }), {
      kind: 'done',
      summary: 'abc',
      deferred: [],
      optionalFailures: [],
      rebootPending: false,
    });
    const kinds = [
      outcomeOfRollBack({ kind: 'step failed', error: stepError('rejected') }),
      outcomeOfRollBack({ kind: 'locked', by: 'm', since: '2026' }),
      outcomeOfRollBack({ kind: 'unreadable host', cause: 'x' }),
      outcomeOfRollBack({ kind: 'connection lost', during: 'lock', cause: 'x' }),
      outcomeOfRollBack({ kind: 'timed out', during: 'lock', after: 1 }),
      outcomeOfRollBack({ kind: 'aborted', during: 'lock' }),
    ].map(({ kind }) => kind);
    assert.deepEqual(kinds, ['rejected', 'locked', 'rejected', 'unreachable', 'unreachable', 'aborted']);
  });
});

describe('the outcome of a failed connection', () => {
  const address = { host: '2001:db8::1', port: 22, transport: 'tailnet' } as const;
  const job = { user: 'm1', addresses: [address, address] } as unknown as Parameters<typeof outcomeOfConnection>[1];

  test('is unreachable when the handshake stops after the host key', () => {
    const outcome = outcomeOfConnection({ kind: 'handshake failed', cause: 'no login', hostKey: 'k', address }, job);
    assert.ok(outcome.kind === 'unreachable' && outcome.message.includes('[2001:db8::1]:22 in the tailnet'));
  });

  test('explains why other addresses were not tried after an authentication failure', () => {
    const outcome = outcomeOfConnection({ kind: 'authentication refused', user: 'm1', hostKey: 'k', address }, job);
    assert.ok(outcome.kind === 'rejected' && /~m1\/\.ssh.*the other addresses were not tried/.test(outcome.message));
  });
});
