import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createKubernetes } from '@tartan/sim-kubernetes';
import type { CertificateRequest } from '../controller-deps.ts';
import { identityIssuedFor } from './decide-join.ts';
import { kubeletClientSigner } from './names.ts';

const day = 24 * 3600;

const issue = async (commonName: string, organizations = ['system:nodes']): Promise<string> => {
  const { identity, stop } = await createKubernetes({ clock: manualClock(), controllers: false });
  const usages = ['client auth', 'digital signature'] as const;
  const { certificate } = await identity.issue({ commonName, organizations, usages, seconds: day });
  stop();
  return Buffer.from(certificate).toString('base64');
};

describe('the identity issued for a join token', () => {
  const request = (certificate: string | undefined, approvedAt: string, tokenID = 'aaaaaa'): CertificateRequest => ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'x' },
    spec: { request: '', signerName: kubeletClientSigner, username: `system:bootstrap:${tokenID}` },
    status: {
      conditions: [{ type: 'Approved', status: 'True', lastTransitionTime: approvedAt }],
      ...(certificate === undefined ? {} : { certificate }),
    },
  });

  test('is that of the latest certificate, with its expiry', async () => {
    const certificate = await issue('system:node:mac-1');
    const found = identityIssuedFor('aaaaaa', [
      request(certificate, '2026-01-01T00:00:05Z'),
      request(certificate, '2026-01-01T00:00:09Z'),
      request(certificate, '2026-01-01T00:00:07Z'),
    ]);
    assert.equal(found?.nodeName, 'mac-1');
    assert.equal(found.issuedAt, Date.parse('2026-01-01T00:00:09Z'));
    // The signer sets a certificate's end back by the five minutes that it sets its beginning back.
    assert.equal(found.expiresAt, Date.parse('2026-01-02T00:00:00Z') - 300_000);
  });

  test('has the Node name of the common name, and the time of approval', async () => {
    const certificate = await issue('system:node:mac-1', ['CN=system:node:mac-2']);
    const conditions = [
      { type: 'Failed', status: 'True', lastTransitionTime: '2026-01-01T00:00:05Z' },
      { type: 'Approved', status: 'True', lastUpdateTime: '2026-01-01T00:00:09Z' },
    ];
    const found = identityIssuedFor('aaaaaa', [{ ...request(undefined, ''), status: { certificate, conditions } }]);
    assert.equal(found?.nodeName, 'mac-1');
    assert.equal(found.issuedAt, Date.parse('2026-01-01T00:00:09Z'));
  });

  test('does not exist without a node certificate for this token', async () => {
    const certificate = await issue('system:node:mac-1');
    const at = '2026-01-01T00:00:05Z';
    const { status: _, ...unanswered } = request(undefined, at);
    const others: CertificateRequest[] = [
      request(undefined, at),
      unanswered,
      { ...unanswered, status: { certificate } },
      { ...unanswered, status: { certificate, conditions: [{ type: 'Approved', status: 'True' }] } },
      { ...request(certificate, at), spec: { request: '', signerName: kubeletClientSigner } },
      request('AAAA', at),
      request(certificate, 'soon'),
      request(certificate, at, 'bbbbbb'),
      request(await issue('admin'), at),
      { ...request(certificate, at), spec: { ...request(certificate, at).spec, signerName: 'example.com/x' } },
    ];
    for (const each of others) assert.equal(identityIssuedFor('aaaaaa', [each]), undefined);
    assert.equal(identityIssuedFor('aaaaaa', []), undefined);
  });
});
