import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isNewer, isOlder } from './resource-version.ts';

test('versions compare as the integers they write, however long', () => {
  const version = fc.bigInt({ min: 0n, max: 2n ** 80n });
  fc.assert(
    fc.property(version, version, (a, b) => {
      assert.equal(isOlder(`${a}`, `${b}`), a < b);
      assert.equal(isNewer(`${a}`, `${b}`), a > b);
    }),
  );
});

test('two versions beyond the precision of a double are told apart', () => {
  assert.equal(isOlder('9007199254740992', '9007199254740993'), true);
  assert.equal(isNewer('10000000000000000', '9999999999999999'), true);
});

test('of versions that are no numbers, another one is always news and never old', () => {
  assert.equal(isNewer('abc', 'abd'), true);
  assert.equal(isNewer('abd', 'abc'), true);
  assert.equal(isNewer('abc', 'abc'), false);
  assert.equal(isOlder('abc', 'abd'), false);
  assert.equal(isOlder('7', 'abd'), false);
});
