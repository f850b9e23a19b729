import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { claimsOf } from './conditions.ts';
import type { Facts } from './host-facts.ts';
import { exampleFacts } from './testing/example.ts';

describe('whether virtual machines start', () => {
  const told = (vmStart: Facts['vmStart']) => {
    const { vmStart: _none, ...others } = exampleFacts;
    const claim = claimsOf({ ...others, ...(vmStart && { vmStart }) }).find(({ type }) => type === 'VMStart');
    return [claim?.status, claim?.reason, claim?.message];
  };
  test('is not known before anybody has looked', () =>
    assert.deepEqual(told(undefined).slice(0, 2), ['Unknown', 'NotRead']));
  test('they do', () => assert.deepEqual(told({ kind: 'works' }).slice(0, 2), ['True', 'NotRefused']));
  test('they are refused: what tart says, and what to do', () => {
    const [status, reason, message] = told({ kind: 'refused', message: `${'x'.repeat(9999)}\nfailed to start` });
    assert.deepEqual([status, reason], ['False', 'StartsRefused']);
    assert.match(
      message ?? '',
      /^Virtual machines do not start on this Mac: …x+ failed to start\. .*restart the Mac\.$/,
    );
    assert.ok((message ?? '').length < 1024);
  });
  test('slots are lost: how many, and what to do', () => {
    const [status, reason, message] = told({ kind: 'slots leaked', running: 0, total: 2 });
    assert.deepEqual([status, reason], ['False', 'SlotsLeaked']);
    assert.match(message ?? '', /although 0 of 2 run.*Restart the Mac\.$/);
  });
});

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
