import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import { certificateWish } from './certificate-request.ts';

const textOf = (request: string): string => Buffer.from(request, 'base64').toString();

describe('a certificate request of a Node', () => {
  let kubernetes: Kubernetes;
  before(async () => {
    kubernetes = await createKubernetes({ controllers: false });
  });
  after(() => kubernetes.stop());

  /** Rejects a request whose signature is not that of its key. */
  const signed = async (request: string, usage: 'client auth' | 'server auth') =>
    new X509Certificate(await kubernetes.identity.sign(textOf(request), [usage, 'digital signature'], 3600));

  test('asks for its name in its group, signed by its key, and for nothing besides', async () => {
    const { key, request } = certificateWish('mac-1.example.com');
    const certificate = await signed(request, 'client auth');
    assert.deepEqual(certificate.subject.split('\n').sort(), ['CN=system:node:mac-1.example.com', 'O=system:nodes']);
    assert.equal(certificate.subjectAltName, undefined);
    assert.ok(certificate.checkPrivateKey(createPrivateKey(key)));
    const text = textOf(request);
    assert.match(text, /^-----BEGIN CERTIFICATE REQUEST-----\n[^-]+\n-----END CERTIFICATE REQUEST-----\n$/);
    // An empty set of attributes, which is what the provider takes for none.
    assert.ok(Buffer.from(text.split('\n').slice(1, -2).join(''), 'base64').includes(Buffer.from('a00030', 'hex')));
  });

  test('for serving it names addresses', async () => {
    const certificate = await signed(certificateWish('mac-1', ['10.0.0.7', '192.168.1.20']).request, 'server auth');
    assert.equal(certificate.subjectAltName, 'IP Address:10.0.0.7, IP Address:192.168.1.20');
  });

  test('the longest name that a Node can have fits', async () => {
    const name = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
    const certificate = await signed(certificateWish(name).request, 'client auth');
    assert.match(certificate.subject, new RegExp(`^CN=system:node:${name}$`, 'm'));
  });

  test('every request is for a key of its own', () => {
    assert.notEqual(certificateWish('mac-1').key, certificateWish('mac-1').key);
  });
});
