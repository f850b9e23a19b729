import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { defaultLimits, judgeTurn, type MachineFacts, mayRetry, type TurnContext, type Verdict } from './judge-turn.ts';
import { ago, limits, machineFacts, minute, now, turnFor, updated } from './testing/fixtures.ts';
import type { Turn } from './turns.ts';

const rules: TurnContext = { now, revision: 'r2', gateDeadlineMs: 15 * minute, limits };
const canary = turnFor('a', { canary: true });
const wave = turnFor('a');
const old = (turn: Turn, minutes: number): Turn => ({ ...turn, grantedAt: ago(minutes) });
const before = (turn: Turn): Turn => ({ ...turn, revision: 'r1' });
const back = { ...wave, rollBack: true };
const a = (facts: Partial<MachineFacts> = {}) => machineFacts('a', facts);
const down = (forMinutes: number, facts: Partial<MachineFacts> = {}) =>
  a({ ready: false, notReadySince: now - forMinutes * minute, ...facts });
const refused = a({ failed: 'a-2', attempts: 5, lastFailure: now - 1000 });
const silent = { unreachableAt: now };

const table: [string, Turn, MachineFacts | undefined, Verdict, ('wasDown' | undefined)?][] = [
  ['a machine that is gone', wave, undefined, 'over'],
  ['a machine that is being deleted', wave, a({ deleting: true }), 'over'],
  ['a machine that lost its Mac', wave, a({ provisioned: false }), 'over'],
  ['a machine that has got it and is Ready', wave, updated('a'), 'done'],
  ['a machine that has got it and is not Ready yet', wave, updated('a', { ready: false }), 'busy'],
  ['a machine that is on it', wave, a(), 'busy'],
  ['a machine that somebody has paused', wave, a({ paused: true }), 'passedOver'],
  ['a machine that was paused while it is down', wave, down(1, { paused: true }), 'busy'],

  ['a machine that wants something else', wave, a({ desired: 'a-3' }), 'over'],
  [
    'a machine that says neither what it wants nor what it has',
    wave,
    a({ desired: undefined, actual: undefined }),
    'over',
  ],
  ['a machine that wants what it has', wave, a({ desired: 'a-1' }), 'done'],
  ['a machine that is down and wants something else', wave, down(1, { desired: 'a-3' }), 'stranded'],
  ['the same after the deadline', old(wave, 20), down(15, { desired: 'a-3' }), 'passedOver'],

  ['a refusal', wave, refused, 'rejected'],
  ['a refusal of a canary', canary, refused, 'rejected'],
  ['a refusal without a time', wave, a({ failed: 'a-2' }), 'busy'],
  ['a refusal of something else', wave, a({ failed: 'a-1', attempts: 0, lastFailure: now }), 'busy'],
  ['a refusal from before its turn', wave, a({ failed: 'a-2', attempts: 5, lastFailure: now - 31 * minute }), 'busy'],
  ['a refusal by a clock that is behind', wave, a({ failed: 'a-2', lastFailure: now - 100_000 }), 'rejected'],
  ['a refusal in a turn of an earlier revision', before(wave), refused, 'over'],
  ['a refusal by one that was down', wave, refused, 'over', 'wasDown'],
  ['a push that failed once', wave, a({ attempts: 1, lastFailure: now - 1000 }), 'failing'],
  ['a push that failed before its turn', wave, a({ attempts: 1, lastFailure: now - 31 * minute }), 'busy'],
  ['a push that keeps failing', old(wave, 61), a({ attempts: 9, lastFailure: now - 1000 }), 'failing'],
  ['a failed push to one that was down', wave, down(1, { attempts: 1, lastFailure: now }), 'busy', 'wasDown'],

  ['unreachable, just now', wave, a(silent), 'busy'],
  ['unreachable, though the Node is Ready', old(wave, 2), a(silent), 'passedOver'],
  ['unreachable canary whose Node is Ready', old(canary, 2), a(silent), 'passedOver'],
  ['unreachable and down', old(wave, 2), down(1, silent), 'passedOver'],
  ['unreachable canary that is down', old(canary, 10), down(9, silent), 'busy'],
  ['the same after the deadline', old(canary, 20), down(15, silent), 'late'],
  ['unreachable canary that was down before', old(canary, 2), down(9, silent), 'passedOver', 'wasDown'],
  ['unreachable canary of an earlier turn', before(old(canary, 2)), down(1, silent), 'passedOver'],

  ['down for almost as long as may be', old(wave, 20), down(14.9), 'busy'],
  ['down for too long', old(wave, 20), down(15), 'late'],
  ['down for too long, with what was sent', old(wave, 20), updated('a', down(15)), 'late'],
  ['down since before its turn', old(wave, 14.9), down(600), 'busy'],
  ['down since an unknown time', old(wave, 15), a({ ready: false }), 'late'],
  ['down for too long, as it was before', old(wave, 20), down(600), 'passedOver', 'wasDown'],
  ['down for too long in an earlier turn', before(old(wave, 20)), down(15), 'passedOver'],

  ['a Mac that waits for its virtual machines', old(wave, 600), a({ waitingForIdle: true }), 'busy'],
  ['one that has just become idle', { ...old(wave, 600), waitsForIdle: true }, a(), 'busy'],
  ['one that never gets there', old(wave, 60), a(), 'passedOver'],

  ['a roll back under way', back, down(20), 'busy'],
  ['a roll back while it wants something else', back, down(20, { desired: 'a-3' }), 'busy'],
  ['a roll back that is done', back, down(20, { failed: 'a-2' }), 'over'],
  ['a roll back that has brought it back', back, a(), 'over'],
  ['a Mac that came up with the new after all', back, updated('a'), 'busy'],
  ['a roll back that never ends', old(back, 15), down(40, { actual: 'a-2' }), 'passedOver'],
  ['a roll back of a machine that is gone', back, undefined, 'over'],
];

describe('judgeTurn', () => {
  for (const [name, turn, machine, verdict, wasDown] of table)
    it(`${name}: ${verdict}`, () => {
      assert.equal(judgeTurn(turn, machine && { ...machine, name: 'a' }, wasDown !== undefined, rules), verdict);
    });

  it('a refusal shortly before the turn counts, as clocks differ, but never longer than a refusal stays final', () => {
    const verdict = (beforeMs: number, retryAfterMs: number | undefined): Verdict =>
      judgeTurn(old(wave, 1), a({ failed: 'a-2', lastFailure: now - minute - beforeMs }), false, {
        ...rules,
        limits: { ...limits, retryAfterMs },
      });
    assert.equal(verdict(minute, 30 * minute), 'rejected');
    assert.equal(verdict(minute + 1, 30 * minute), 'busy');
    assert.equal(verdict(minute, undefined), 'rejected');
    assert.equal(verdict(10_000, 20_000), 'rejected');
    assert.equal(verdict(10_001, 20_000), 'busy');
  });

  it('the limits are two minutes, half an hour and a quarter of an hour', () => {
    assert.deepEqual(defaultLimits, { unreachableMs: 120_000, longestTurnMs: 1_800_000, passAgainMs: 900_000 });
  });

  it('is total', () => {
    const hash = fc.constantFrom(undefined, 'a-1', 'a-2', 'a-3');
    const time = fc.option(fc.integer({ min: -200, max: 5 }), { nil: undefined });
    const at = (minutes: number | undefined) => (minutes === undefined ? undefined : now + minutes * minute);
    const any = fc.record({
      provisioned: fc.boolean(),
      deleting: fc.boolean(),
      paused: fc.boolean(),
      ready: fc.boolean(),
      notReadySince: time.map(at),
      desired: hash,
      actual: hash,
      pushed: hash,
      failed: hash,
      attempts: fc.nat(3),
      lastFailure: time.map(at),
      unreachableAt: fc.constantFrom(undefined, now, now - 1e7),
      waitingForIdle: fc.boolean(),
    });
    const anyTurn = fc.record({
      canary: fc.boolean(),
      rollBack: fc.boolean(),
      waitsForIdle: fc.boolean(),
      revision: fc.constantFrom('r1', 'r2'),
      grantedAt: fc.integer({ min: -5, max: 200 }).map(ago),
    });
    fc.assert(
      fc.property(any, anyTurn, fc.boolean(), (facts, turn, wasDown) => {
        const verdict = judgeTurn(turnFor('a', turn), a(facts), wasDown, rules);
        assert.match(verdict, /^(done|over|passedOver|rejected|late|stranded|failing|busy)$/);
        if (verdict === 'rejected' || verdict === 'late') assert.ok(!wasDown && turn.revision === 'r2');
        if (verdict === 'done') assert.ok(facts.ready && facts.actual === facts.desired);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('mayRetry, for a machine that refused a push', () => {
  const refuser = { failed: 'a-2', lastFailure: now - 29 * minute };
  for (const [name, facts, retryAfterMs, may] of [
    ['a machine without a refusal', {}, 30 * minute, true],
    ['one that wants something else by now', { failed: 'a-1' }, undefined, true],
    ['one that refused a while ago', refuser, 30 * minute, false],
    ['one that refused long ago', refuser, 29 * minute, true],
    ['one that refused long ago, when that is for ever', refuser, undefined, false],
    ['a machine with a refusal at an unknown time', { failed: 'a-2' }, 30 * minute, true],
  ] as const)
    it(`${name} ${may ? 'may be retried' : 'is not retried'}`, () => {
      assert.equal(mayRetry(a(facts), now, { ...limits, retryAfterMs }), may);
    });
});
