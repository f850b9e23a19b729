import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { newKeyPair, publicKeyOf } from './ssh-keys.ts';

describe('a new pair of keys', () => {
  test('is in the format of OpenSSH, and its halves match', () => {
    const { privateKey, publicKey } = newKeyPair('tuist-capi-runners');
    assert.match(privateKey, /^-----BEGIN OPENSSH PRIVATE KEY-----\n/);
    assert.match(publicKey, /^ssh-ed25519 [A-Za-z0-9+/=]+ tuist-capi-runners$/);
    assert.ok(publicKey.startsWith(`${publicKeyOf(privateKey)} `));
    assert.notEqual(newKeyPair('x').privateKey, newKeyPair('x').privateKey);
  });

  test('is generated again until it can be parsed', () => {
    const good = newKeyPair('x');
    const made = ['-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----', '', good.privateKey];
    const generate = () => ({ private: made.shift() ?? '', public: good.publicKey });
    assert.deepEqual(newKeyPair('x', generate), good);
    assert.throws(() => newKeyPair('x', () => ({ private: 'no', public: 'no' })), /No usable SSH key/);
  });
});

describe('the public key', () => {
  test('of text that is no private key is an error that does not contain the text', () => {
    const { publicKey } = newKeyPair('x');
    const encrypted = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'planted-secret' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    }).privateKey;
    for (const text of ['', 'planted-secret', publicKey, encrypted]) {
      assert.throws(
        () => publicKeyOf(text),
        (error: Error) => error.message.includes('cannot be read') && !error.message.includes('planted-secret'),
      );
    }
  });
});
