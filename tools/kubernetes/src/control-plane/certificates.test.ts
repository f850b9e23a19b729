import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createAuthority, createTokenKeys, issueClientCertificate, issueServerCertificate } from './certificates.ts';

test('a client certificate has user and groups, and is signed by its authority', async () => {
  const authority = await createAuthority('test-ca');
  const issued = await issueClientCertificate(authority, {
    user: 'system:node:mac-1',
    groups: ['system:nodes', 'other'],
  });
  const certificate = new X509Certificate(issued.certificate);
  assert.equal(certificate.subject, 'O=system:nodes\nO=other\nCN=system:node:mac-1');
  assert.ok(certificate.verify(new X509Certificate(authority.certificate).publicKey));
  assert.ok(certificate.checkPrivateKey(createPrivateKey(issued.key)));
  assert.equal(certificate.ca, false);
});

test('a server certificate is valid for loopback', async () => {
  const authority = await createAuthority('test-ca');
  const certificate = new X509Certificate((await issueServerCertificate(authority, 'server')).certificate);
  assert.equal(certificate.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(certificate.checkHost('localhost'), 'localhost');
  assert.equal(certificate.checkIP('127.0.0.2'), undefined);
});

test('a certificate is not valid for another authority of the same name', async () => {
  const [authority, other] = [await createAuthority('test-ca'), await createAuthority('test-ca')];
  const certificate = new X509Certificate((await issueClientCertificate(authority, { user: 'x' })).certificate);
  assert.ok(!certificate.verify(new X509Certificate(other.certificate).publicKey));
});

test('PEM ends with a newline', async () => {
  const { certificate, key } = await createAuthority('test-ca');
  assert.match(certificate, /-----END CERTIFICATE-----\n$/);
  assert.match(key, /-----END PRIVATE KEY-----\n$/);
});

test('token keys are a pair in PEM', () => {
  const { publicKey, privateKey } = createTokenKeys();
  assert.match(publicKey, /^-----BEGIN PUBLIC KEY-----/);
  assert.match(privateKey, /^-----BEGIN EC PRIVATE KEY-----/);
});
