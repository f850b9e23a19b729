import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { claimsOf } from './conditions.ts';
import { exampleFacts } from './testing/example.ts';

describe('addresses for guests', () => {
  test('leases of a day, which a busy Mac runs out of, are told before they are used up (G28)', () => {
    const told = (leaseSeconds?: number) =>
      claimsOf(leaseSeconds === undefined ? {} : { ...exampleFacts, leaseSeconds }).find(
        ({ type }) => type === 'GuestAddresses',
      );
    assert.deepEqual([told(86_400)?.status, told(86_400)?.reason], ['False', 'LeasesTooLong']);
    assert.match(told(86_400)?.message ?? '', /86400 s.*DHCPLeaseTimeSecs/);
    assert.equal(told(600)?.status, 'True');
    assert.equal(told(), undefined);
  });
});
