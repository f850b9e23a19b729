import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Decision, decide, isUsable, renewalTime, type Snapshot } from './decide.ts';

const day = 24 * 3_600_000;
const now = Date.parse('2026-06-01T00:00:00Z');
const certificate = { user: 'system:node:mac-1', notBefore: now - day, notAfter: now + 6 * day, stored: true };
const good: Snapshot = { now, nodeName: 'mac-1', certificate, refused: false, clusterKnown: true, retryAt: 0 };
const lived = (days: number) => ({ ...certificate, notBefore: now - days * day, notAfter: now + (7 - days) * day });

const table: readonly [string, Partial<Snapshot>, Decision['kind']][] = [
  ['a fresh certificate is held', {}, 'valid'],
  ['before two thirds of its life too', { certificate: lived(4.6) }, 'valid'],
  ['from two thirds of its life on it is renewed', { certificate: lived(4.7) }, 'renew'],
  ['a renewal that failed waits, and the certificate is held', { certificate: lived(5), retryAt: now + 1 }, 'valid'],
  ['a renewal that failed comes again', { certificate: lived(5), retryAt: now }, 'renew'],
  ['an expired one joins again', { certificate: lived(7) }, 'join'],
  ['a refused one joins again', { refused: true }, 'join'],
  ['a refused one whose join failed waits', { refused: true, retryAt: now + 1 }, 'wait'],
  ['none joins', { certificate: undefined }, 'join'],
  ['none and no kubeconfig waits', { certificate: undefined, clusterKnown: false }, 'wait'],
  ['none after a failure waits', { certificate: undefined, retryAt: now + 1 }, 'wait'],
  ['that of another Node is none', { nodeName: 'mac-2' }, 'join'],
  ['one that lies in memory only is stored first', { certificate: { ...lived(5), stored: false } }, 'store'],
  [
    'one that could not be stored is held',
    { certificate: { ...certificate, stored: false }, retryAt: now + 1 },
    'valid',
  ],
  ['one without a kubeconfig is held until there is one', { certificate: lived(5), clusterKnown: false }, 'valid'],
  ['one that is not valid yet by our clock is held', { certificate: lived(-1) }, 'valid'],
];

const time = fc.integer({ min: 0, max: 4_102_444_800_000 });
const anySnapshot: fc.Arbitrary<Snapshot> = fc.record({
  now: time,
  nodeName: fc.constantFrom('mac-1', 'mac-2'),
  certificate: fc.option(
    fc.record({
      user: fc.constantFrom('system:node:mac-1', 'system:node:mac-2', ''),
      notBefore: time,
      notAfter: time,
      stored: fc.boolean(),
    }),
    { nil: undefined },
  ),
  refused: fc.boolean(),
  clusterKnown: fc.boolean(),
  retryAt: time,
});

describe('decisions about the certificate of the Node', () => {
  for (const [title, change, kind] of table) test(title, () => assert.equal(decide({ ...good, ...change }).kind, kind));

  test('rechecks at the renewal time, not later', () => {
    const soon = { ...certificate, notBefore: now - 2 * day + 60_000 / 2, notAfter: now + day };
    const decision = decide({ ...good, certificate: soon });
    assert.deepEqual(decision, { kind: 'valid', until: renewalTime(soon) });
  });

  test('renews at the renewal time, and waits for the next try after a failure', () => {
    const due = { ...certificate, notBefore: now - 2 * day, notAfter: now + day };
    assert.deepEqual(decide({ ...good, certificate: due }), { kind: 'renew' });
    assert.deepEqual(decide({ ...good, certificate: due, retryAt: now + 1 }), { kind: 'valid', until: now + 1 });
  });

  test('is total, and never waits for a time in the past or for long', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const decision = decide(snapshot);
        switch (decision.kind) {
          case 'valid':
            assert.ok(isUsable(snapshot));
            assert.ok(decision.until > snapshot.now && decision.until <= snapshot.now + 60_000);
            break;
          case 'wait':
            assert.ok(decision.until > snapshot.now && decision.until <= snapshot.now + 60_000);
            break;
          case 'renew':
            assert.ok(isUsable(snapshot) && !snapshot.refused && snapshot.now >= snapshot.retryAt);
            break;
          case 'join':
            assert.ok(snapshot.clusterKnown && snapshot.now >= snapshot.retryAt);
            assert.ok(!isUsable(snapshot) || snapshot.refused, 'a good certificate is never given up');
            break;
          case 'store':
            assert.ok(snapshot.certificate?.stored === false);
            break;
        }
      }),
    );
  });
});
