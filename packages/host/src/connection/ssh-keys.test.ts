import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { newKeyPair, publicKeyOf } from './ssh-keys.ts';

describe('a new pair of keys', () => {
  test('is what OpenSSH knows, and its halves belong together', () => {
    const { privateKey, publicKey } = newKeyPair('tuist-capi-runners');
    assert.match(privateKey, /^-----BEGIN OPENSSH PRIVATE KEY-----\n/);
    assert.match(publicKey, /^ssh-ed25519 [A-Za-z0-9+/=]+ tuist-capi-runners$/);
    assert.ok(publicKey.startsWith(`${publicKeyOf(privateKey)} `));
    assert.notEqual(newKeyPair('x').privateKey, newKeyPair('x').privateKey);
  });

  test('is made again until it can be read', () => {
    const good = newKeyPair('x');
    const made = ['-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----', '', good.privateKey];
    const generate = () => ({ private: made.shift() ?? '', public: good.publicKey });
    assert.deepEqual(newKeyPair('x', generate), good);
    assert.throws(() => newKeyPair('x', () => ({ private: 'no', public: 'no' })), /No usable SSH key/);
  });
});

describe('the public half', () => {
  test('is refused for what is no private key, without a word of what it is', () => {
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
