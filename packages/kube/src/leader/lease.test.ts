import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Live } from '../objects/object.ts';
import { acquiredLease, type Lease, newLease, recordOf, releasedLease, renewedLease, renewTimeOf } from './lease.ts';

const writing = { identity: 'a', leaseMs: 15_000, time: '2026-01-01T00:00:02.000000Z' };
const leaseOf = (spec: unknown): Live<Lease> => ({
  metadata: { name: 'it', uid: 'u', resourceVersion: '7', creationTimestamp: '', labels: { team: 'macs' } },
  spec,
});
const old = leaseOf({
  holderIdentity: 'b',
  leaseDurationSeconds: 30,
  acquireTime: '2026-01-01T00:00:00.000000Z',
  renewTime: '2026-01-01T00:00:01.000000Z',
  leaseTransitions: 4,
  strategy: 'OldestEmulationVersion',
});

test('a new lease has our identity and no transition', () => {
  assert.deepEqual(newLease({ namespace: 'ns', name: 'it' }, writing), {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'ns', name: 'it' },
    spec: {
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: writing.time,
      renewTime: writing.time,
      leaseTransitions: 0,
    },
  });
});

test('a takeover counts a transition, sets acquireTime, and keeps other fields of the Lease', () => {
  assert.deepEqual(acquiredLease(old, writing), {
    ...old,
    spec: {
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: writing.time,
      renewTime: writing.time,
      leaseTransitions: 5,
      strategy: 'OldestEmulationVersion',
    },
  });
});

test('a renewal changes only renewTime', () => {
  const ours = leaseOf({ ...Object(old.spec), holderIdentity: 'a', leaseDurationSeconds: 15 });
  assert.deepEqual(renewedLease(ours, writing), {
    ...ours,
    spec: { ...Object(ours.spec), renewTime: writing.time },
  });
});

test('a release clears holderIdentity and sets a duration of one second, as client-go does', () => {
  assert.deepEqual(releasedLease(old, writing.time).spec, {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: writing.time,
    renewTime: writing.time,
    leaseTransitions: 4,
    strategy: 'OldestEmulationVersion',
  });
});

test('for any existing Lease, the written one is valid', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.jsonValue(), fc.record({ leaseTransitions: fc.oneof(fc.maxSafeInteger(), fc.jsonValue()) })),
      (spec) => {
        const lease = leaseOf(spec);
        for (const write of [acquiredLease, renewedLease]) {
          const record = recordOf(write(lease, writing));
          assert.equal(record.holder, 'a');
          assert.equal(record.durationMs, 15_000);
          assert.ok(record.transitions >= 0 && record.transitions < 2 ** 31);
        }
      },
    ),
  );
});

test('timestamps have six digits, and are unique even if the clock stands still', () => {
  const times = Array.from({ length: 1000 }, (_, count) => renewTimeOf(Date.parse('2026-01-01T00:00:00.123Z'), count));
  assert.equal(times[0], '2026-01-01T00:00:00.123000Z');
  assert.equal(times[7], '2026-01-01T00:00:00.123007Z');
  assert.equal(new Set(times).size, 1000);
  for (const time of times) assert.match(time, /^2026-01-01T00:00:00\.\d{6}Z$/);
});
