import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publicKey } from '../testing/requests.ts';
import { fingerprint, isPublicKey } from './ssh-keys.ts';

const key = publicKey('someone');
const [kind = '', encoded = ''] = key.split(' ');

test('a public key has the format of OpenSSH, with or without a comment', () => {
  for (const [text, expected] of [
    [key, true],
    [`${kind} ${encoded}`, true],
    [`${key}\n`, true],
    ['', false],
    [kind, false],
    [encoded, false],
    [`${kind} AAAA`, false],
    [`ssh-rsa ${encoded}`, false],
    [`ssh-dss ${encoded}`, false],
    [`${key}\n${key}`, false],
    ['-----BEGIN OPENSSH PRIVATE KEY-----', false],
  ] as const) {
    assert.equal(isPublicKey(text), expected, text);
  }
});

test('a fingerprint depends on the key, not on its comment', () => {
  assert.equal(fingerprint(key), fingerprint(`${kind} ${encoded} other comment`));
  assert.notEqual(fingerprint(key), fingerprint(publicKey('else')));
});
