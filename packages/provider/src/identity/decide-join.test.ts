import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { decideJoin, type JoinSnapshot, shouldRetireToken } from './decide-join.ts';

const now = Date.parse('2026-06-01T00:00:00Z');
const hour = 3_600_000;
const day = 24 * hour;

describe('decideJoin: when a token is retired', () => {
  const identity = { nodeName: 'mac-1', issuedAt: now, expiresAt: now + 7 * day };
  const rows: readonly [string, Parameters<typeof shouldRetireToken>, boolean][] = [
    ['when its identity renews its Lease', [{ nodeName: 'mac-1', renewedAt: now + 1 }, identity], true],
    ['at the moment of its first renewal', [{ nodeName: 'mac-1', renewedAt: now }, identity], true],
    ['not before there is a Lease', [undefined, identity], false],
    ['not before there is a certificate', [{ nodeName: 'mac-1', renewedAt: now + 1 }, undefined], false],
    ['not by a renewal of the identity before', [{ nodeName: 'mac-1', renewedAt: now - 1 }, identity], false],
    ['not by the Lease of another Node', [{ nodeName: 'mac-2', renewedAt: now + 1 }, identity], false],
    ['not by a Lease whose time cannot be read', [{ nodeName: 'mac-1', renewedAt: Number.NaN }, identity], false],
  ];
  for (const [what, given, expected] of rows) test(what, () => assert.equal(shouldRetireToken(...given), expected));
});

describe('decideJoin: when a Mac needs a new token', () => {
  const good = { expiresAt: now + hour, delivered: true };
  const lease = (age: number) => ({ nodeName: 'mac-1', renewedAt: now - age });
  const rows: readonly [string, Partial<JoinSnapshot>, ReturnType<typeof decideJoin>][] = [
    ['when it never joined', {}, 'NeverJoined'],
    ['not while it holds a token', { token: good }, undefined],
    ['when its token expired before it was used', { token: { ...good, expiresAt: now } }, 'TokenExpired'],
    ['when its token never reached it', { token: { ...good, delivered: false } }, 'TokenLost'],
    ['not while it renews its Lease', { nodeLease: lease(10_000) }, undefined],
    ['not after a night', { nodeLease: lease(day / 2), certificateExpiresAt: now + day }, undefined],
    [
      'when it was off until its certificate expired',
      { nodeLease: lease(2 * day), certificateExpiresAt: now },
      'CertificateExpired',
    ],
    ['when it was off for a week with an unknown certificate', { nodeLease: lease(7 * day) }, 'CertificateExpired'],
    ['not when it was off for less with an unknown certificate', { nodeLease: lease(7 * day - 1) }, undefined],
    ['not twice: the token for coming back is on it', { nodeLease: lease(30 * day), token: good }, undefined],
    [
      'again when that token expired too',
      { nodeLease: lease(30 * day), token: { ...good, expiresAt: now - 1 } },
      'CertificateExpired',
    ],
    [
      'not when a token got lost but its identity is good',
      { nodeLease: lease(1000), token: { ...good, delivered: false } },
      undefined,
    ],
    [
      'when no time can be read',
      { nodeLease: lease(Number.NaN), token: { ...good, expiresAt: Number.NaN } },
      'CertificateExpired',
    ],
  ];
  for (const [what, change, expected] of rows) test(what, () => assert.equal(decideJoin({ now, ...change }), expected));

  test('decideJoin is total', () => {
    const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
    const snapshot = fc.record({
      now: fc.double(),
      token: optional(fc.record({ expiresAt: fc.double(), delivered: fc.boolean() })),
      nodeLease: optional(fc.record({ nodeName: fc.string(), renewedAt: fc.double() })),
      certificateExpiresAt: optional(fc.double()),
    });
    fc.assert(fc.property(snapshot, (each) => /^[A-Z][A-Za-z]+$/.test(decideJoin(each) ?? 'Joined')));
  });
});
