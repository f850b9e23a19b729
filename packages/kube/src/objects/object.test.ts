import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isNewerResourceVersion, isOlderResourceVersion } from './object.ts';

test('versions compare as the integers they write, however long', () => {
  const version = fc.bigInt({ min: 0n, max: 2n ** 80n });
  fc.assert(
    fc.property(version, version, (a, b) => {
      assert.equal(isOlderResourceVersion(`${a}`, `${b}`), a < b);
      assert.equal(isNewerResourceVersion(`${a}`, `${b}`), a > b);
    }),
  );
});

test('two versions beyond the precision of a double are told apart', () => {
  assert.equal(isOlderResourceVersion('9007199254740992', '9007199254740993'), true);
  assert.equal(isNewerResourceVersion('10000000000000000', '9999999999999999'), true);
});

test('of two non-numeric versions, a different one is always newer and never older', () => {
  assert.equal(isNewerResourceVersion('abc', 'abd'), true);
  assert.equal(isNewerResourceVersion('abd', 'abc'), true);
  assert.equal(isNewerResourceVersion('abc', 'abc'), false);
  assert.equal(isOlderResourceVersion('abc', 'abd'), false);
  assert.equal(isOlderResourceVersion('7', 'abd'), false);
});
