import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isPoolName, newSuffix, promisedPoolName, readReleasingName, releasingName } from './server-name.ts';

describe('the name of a server', () => {
  it('of a Mac being released contains its next pool name', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 30 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (prefix, random) => {
          const poolName = `${prefix}${newSuffix(random)}`;
          assert.deepEqual(readReleasingName(releasingName(poolName)), { poolName, poolPrefix: prefix });
          assert.equal(promisedPoolName(releasingName(poolName), prefix), poolName);
          assert.equal(promisedPoolName(releasingName(poolName), `${prefix}x`), undefined);
        },
      ),
    );
  });

  it('ends in eight hex digits for any random number', () => {
    for (const random of [0, 0.5, 1 / 16 ** 8, 1 - Number.EPSILON, 1]) assert.match(newSuffix(random), /^[0-9a-f]{8}$/);
  });

  for (const name of [
    'mac-1',
    'tuist-releasing-',
    'tuist-releasing-0000000a',
    'tuist-releasing-by hand',
    'tuist-pool-1',
  ])
    it(`${name} contains no pool name`, () => {
      assert.equal(readReleasingName(name), undefined);
    });

  it('that is too long contains no pool name', () => {
    assert.equal(readReleasingName(releasingName(`${'p'.repeat(64)}00000001`)), undefined);
  });

  it('belongs to a pool by its prefix, unless it is a releasing or pending name', () => {
    assert.ok(isPoolName('tuist-pool-1', 'tuist-pool-'));
    assert.ok(isPoolName('tuist-1', 'tuist-'));
    for (const name of ['tuist-releasing-tuist-00000001', 'tuist-claim-pending-1'])
      assert.ok(!isPoolName(name, 'tuist-'));
    assert.ok(!isPoolName('mac-1', ''), 'an empty prefix is none');
  });
});
