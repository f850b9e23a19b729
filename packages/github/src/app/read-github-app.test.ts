import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { pkcs1, pkcs8 } from '../testing/harness.ts';
import { readGitHubApp } from './read-github-app.ts';

const encode = (value: string): string => Buffer.from(value).toString('base64');
const secret = (more: Record<string, string> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries({ 'app-id': '4711', 'installation-id': '7001', 'private-key': pkcs1, ...more }).map(
      ([key, value]) => [key, encode(value)],
    ),
  );

test('an App is read with trailing newlines, and with its key in either format', () => {
  for (const key of [pkcs1, pkcs8, `\n${pkcs1}\n\n`, pkcs1.replaceAll('\n', '\r\n')]) {
    const app = readGitHubApp(secret({ 'app-id': '4711\n', 'private-key': key }));
    assert.ok(!('problem' in app));
    assert.deepEqual([app.appID, app.installationID], ['4711', '7001']);
    assert.equal(app.privateKey.reveal(), key.trim());
    assert.doesNotMatch(inspect(app, { depth: 9, showHidden: true }), /BEGIN/);
  }
});

test('the client ID is accepted in place of the App ID', () => {
  assert.ok(!('problem' in readGitHubApp(secret({ 'app-id': 'Iv23liABCdef' }))));
});

const publicKey = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
const ed25519 = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });

for (const [why, data, expected] of [
  ['nothing at all', undefined, /no app-id, no installation-id, no private-key/],
  ['an empty value', secret({ 'installation-id': ' ' }), /it has no installation-id/],
  ['an App by its name', secret({ 'app-id': 'our-runners' }), /app-id is neither the number nor the client ID/],
  ['an installation by its address', secret({ 'installation-id': 'https://github.com/7001' }), /is not a number/],
  ['a key in base64 twice', secret({ 'private-key': encode(pkcs1) }), /in base64 twice/],
  ['a key that is cut', secret({ 'private-key': pkcs1.slice(0, 400) }), /no private key that can be read/],
  ['a public key', secret({ 'private-key': publicKey }), /no private key that can be read/],
  ['a key of another kind', secret({ 'private-key': ed25519 }), /is no RSA key/],
  ['two that are mixed up', secret({ 'app-id': pkcs1, 'private-key': '4711' }), /app-id is neither.*no PEM file/],
] as const) {
  test(`an invalid App is rejected: ${why}`, () => {
    const app = readGitHubApp(data);
    assert.ok('problem' in app);
    assert.match(app.problem, expected);
    assert.match(app.problem, /Put app-id and private-key there/);
    assert.doesNotMatch(app.problem, new RegExp(pkcs1.slice(40, 60)));
    assert.doesNotMatch(app.problem, /BEGIN/);
  });
}
