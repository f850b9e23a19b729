import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeKcpassword, encodeKcpassword, sealedPassword } from './kcpassword.ts';

/** What macOS stores for these passwords, in hex. */
const vectors = {
  hello: '15ec3e4fbdbcddeaa3b91f',
  '12345678901': '4cbb6117e78aead29a892e7d895223d2bcddeaa3b91f',
  '': '7d895223d2bcddeaa3b91f',
};

for (const [password, hex] of Object.entries(vectors)) {
  test(`"${password}" is encoded as ${hex}`, () => {
    assert.equal(encodeKcpassword(password).toString('hex'), hex);
    assert.equal(decodeKcpassword(Buffer.from(hex, 'hex')).toString(), password);
  });
}

test('the encoded word <sealed> has eleven bytes', () => {
  assert.equal(sealedPassword.toString('hex'), '41fa3742bed9b9d4a3b91f');
});

test('a password without padding is read completely', () => {
  assert.equal(decodeKcpassword(encodeKcpassword('hello').subarray(0, 5)).toString(), 'hello');
});
