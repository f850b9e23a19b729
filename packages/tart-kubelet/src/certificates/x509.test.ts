import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import { createCertificateRequest } from './x509.ts';

describe('a certificate request of a Node', () => {
  let kubernetes: Kubernetes;
  before(async () => {
    kubernetes = await createKubernetes({ controllers: false });
  });
  after(() => kubernetes.stop());

  /** Rejects a request that is not signed with its own key. */
  const signed = async (request: string, usage: 'client auth' | 'server auth') =>
    new X509Certificate(await kubernetes.identity.sign(request, [usage, 'digital signature'], 3600));

  test('requests system:node:<name> in system:nodes, signed by its key, and nothing else', async () => {
    const { key, request } = createCertificateRequest({ nodeName: 'mac-1.example.com' });
    const certificate = await signed(request, 'client auth');
    assert.deepEqual(certificate.subject.split('\n').sort(), ['CN=system:node:mac-1.example.com', 'O=system:nodes']);
    assert.equal(certificate.subjectAltName, undefined);
    assert.ok(certificate.checkPrivateKey(createPrivateKey(key)));
    assert.match(request, /^-----BEGIN CERTIFICATE REQUEST-----\n[^-]+\n-----END CERTIFICATE REQUEST-----\n$/);
    // An empty set of attributes, which the provider treats as none.
    assert.ok(Buffer.from(request.split('\n').slice(1, -2).join(''), 'base64').includes(Buffer.from('a00030', 'hex')));
  });

  test('names the address for a serving certificate', async () => {
    const certificate = await signed(
      createCertificateRequest({ nodeName: 'mac-1', address: '10.0.0.7' }).request,
      'server auth',
    );
    assert.equal(certificate.subjectAltName, 'IP Address:10.0.0.7');
  });

  test('supports the longest Node name', async () => {
    const name = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
    const certificate = await signed(createCertificateRequest({ nodeName: name }).request, 'client auth');
    assert.match(certificate.subject, new RegExp(`^CN=system:node:${name}$`, 'm'));
  });

  test('uses a new key for every request', () => {
    assert.notEqual(
      createCertificateRequest({ nodeName: 'mac-1' }).key,
      createCertificateRequest({ nodeName: 'mac-1' }).key,
    );
  });
});
