import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Live } from '../objects/object.ts';
import { type Decision, decide, type LeaseObservation, observeLease } from './decide.ts';
import { type Lease, recordOf } from './lease.ts';

const leaseOf = (spec: unknown, uid = 'u'): Live<Lease> => ({
  metadata: { name: 'it', uid, resourceVersion: '1', creationTimestamp: '' },
  spec,
});
const seenOf = (spec: unknown, changedAt: number, present = true): LeaseObservation => ({
  record: recordOf(leaseOf(spec)),
  present,
  changedAt,
});
const theirs = { holderIdentity: 'b', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' };
const wait = (until: number, holder = 'b'): Decision => ({ kind: 'wait', holder, until });

const rows: readonly [what: string, seen: LeaseObservation | undefined, now: number, expected: Decision][] = [
  ['no Lease was ever seen', undefined, 0, { kind: 'create' }],
  ['the lease has no holder', seenOf({ ...theirs, holderIdentity: '' }, 0), 0, { kind: 'takeOver' }],
  ['it has no holder', seenOf({}, 0), 0, { kind: 'takeOver' }],
  ['it has no spec', seenOf(undefined, 0), 0, { kind: 'takeOver' }],
  ['it names us', seenOf({ ...theirs, holderIdentity: 'a' }, 0), 5, { kind: 'renew' }],
  ['it names us, and is long expired', seenOf({ ...theirs, holderIdentity: 'a' }, 0), 1e9, { kind: 'renew' }],
  ['its holder has just renewed it', seenOf(theirs, 100), 100, wait(15_100)],
  ['its holder has been silent for almost as long as it may', seenOf(theirs, 100), 15_099, wait(15_100)],
  ['its holder has been silent for too long', seenOf(theirs, 100), 15_100, { kind: 'takeOver' }],
  [
    'it lasts as long as its holder says, not we',
    seenOf({ ...theirs, leaseDurationSeconds: 60 }, 0),
    59_999,
    wait(60_000),
  ],
  ['it does not say how long it lasts', seenOf({ holderIdentity: 'b' }, 0), 9_999, wait(10_000)],
  ['it lasts for garbage', seenOf({ ...theirs, leaseDurationSeconds: '15' }, 0), 9_999, wait(10_000)],
  ['it lasts for less than nothing', seenOf({ ...theirs, leaseDurationSeconds: -3 }, 0), 9_999, wait(10_000)],
  ['its holder cannot be read', seenOf({ holderIdentity: 7 }, 0), 0, wait(10_000, '(unreadable) 7')],
  [
    'its times lie in the future',
    seenOf({ ...theirs, renewTime: '2999-01-01T00:00:00.000000Z' }, 0),
    15_000,
    { kind: 'takeOver' },
  ],
  [
    'its times lie in the past',
    seenOf({ ...theirs, renewTime: '1999-01-01T00:00:00.000000Z' }, 0),
    14_999,
    wait(15_000),
  ],
  ['somebody deleted it while its holder lives', seenOf(theirs, 0, false), 14_999, wait(15_000)],
  ['it is gone, and its holder silent', seenOf(theirs, 0, false), 15_000, { kind: 'create' }],
  ['somebody deleted ours', seenOf({ ...theirs, holderIdentity: 'a' }, 0, false), 1, { kind: 'create' }],
  ['it was given back, then deleted', seenOf({ ...theirs, holderIdentity: '' }, 0, false), 0, { kind: 'create' }],
];

for (const [what, observed, now, expected] of rows) {
  test(`${what}: ${expected.kind}`, () => {
    assert.deepEqual(decide({ observed, identity: 'a', leaseMs: 10_000, now }), expected);
  });
}

const anySpec = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      holderIdentity: fc.oneof(fc.constantFrom('', 'a', 'b'), fc.jsonValue()),
      leaseDurationSeconds: fc.oneof(fc.integer(), fc.jsonValue()),
      leaseTransitions: fc.jsonValue(),
      acquireTime: fc.jsonValue(),
      renewTime: fc.jsonValue(),
    },
    { requiredKeys: [] },
  ),
);

test('decides for any Lease, and never takes one that another candidate may still hold', () => {
  fc.assert(
    fc.property(
      fc.option(fc.record({ spec: anySpec, present: fc.boolean(), changedAt: fc.nat() }), { nil: undefined }),
      fc.nat(),
      (sighting, later) => {
        const observed = sighting && seenOf(sighting.spec, sighting.changedAt, sighting.present);
        const now = (observed?.changedAt ?? 0) + later;
        const decision = decide({ observed, identity: 'a', leaseMs: 10_000, now });
        assert.ok(['create', 'takeOver', 'renew', 'wait'].includes(decision.kind));
        if (decision.kind === 'wait') assert.ok(decision.until > now);
        const holder = observed?.record.holder ?? '';
        if (holder !== '' && holder !== 'a' && later < (observed?.record.durationMs ?? 10_000)) {
          assert.equal(decision.kind, 'wait');
        }
        if (decision.kind === 'renew') assert.equal(holder, 'a');
      },
    ),
  );
});

test('the lease duration counts from the first observation of a record, and restarts when any field changes', () => {
  const first = observeLease(undefined, recordOf(leaseOf(theirs)), 5);
  assert.deepEqual(first, seenOf(theirs, 5));
  const same = observeLease(first, recordOf(leaseOf({ ...theirs })), 9);
  assert.equal(same?.changedAt, 5);
  const renewed = observeLease(same, recordOf(leaseOf({ ...theirs, renewTime: '2026-01-01T00:00:00.000001Z' })), 12);
  assert.equal(renewed?.changedAt, 12);
  const anotherObject = observeLease(
    renewed,
    recordOf(leaseOf({ ...theirs, renewTime: '2026-01-01T00:00:00.000001Z' }, 'v')),
    20,
  );
  assert.equal(anotherObject?.changedAt, 20);
});

test('the last observation of a deleted Lease is kept', () => {
  const seen = observeLease(observeLease(undefined, recordOf(leaseOf(theirs)), 5), undefined, 9);
  assert.deepEqual(seen, seenOf(theirs, 5, false));
  assert.equal(observeLease(undefined, undefined, 9), undefined);
});
