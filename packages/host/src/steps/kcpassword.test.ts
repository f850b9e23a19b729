import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kcpassword } from './preparation.ts';

/** What macOS stores for these passwords, in hex. */
const golden: Readonly<Record<string, string>> = {
  hello: '15ec3e4fbdbcddeaa3b91f',
  '12345678901': '4cbb6117e78aead29a892e7d895223d2bcddeaa3b91f',
  '': '7d895223d2bcddeaa3b91f',
  '<sealed>': '41fa3742bed9b9d4a3b91f',
};

for (const [password, hex] of Object.entries(golden)) {
  test(`kcpassword encodes "${password}" as ${hex}`, () => assert.equal(kcpassword(password).toString('hex'), hex));
}

test('kcpassword counts bytes, not characters', () => {
  assert.equal(kcpassword('é'.repeat(5)).length, 11);
  assert.equal(kcpassword('é'.repeat(6)).length, 22);
});
