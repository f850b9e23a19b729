import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fleetHash } from './fleet-hash.ts';

test('the hash is the first 8 bytes of the SHA-256 of the sorted names', () => {
  // printf %s mac-a,mac-b | sha256sum
  assert.equal(fleetHash(['mac-b', 'mac-a']), '83859c1441536766');
});

test('the hash does not depend on the order of the names, and leaves them as they are', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string()), (names) => {
      const given = Object.freeze([...names].reverse());
      assert.equal(fleetHash(given), fleetHash(names));
    }),
  );
});
