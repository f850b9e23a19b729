import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { allowAll, type Authorizer } from '../authorization/authorizer.ts';
import type { KubeObject } from '../object.ts';
import { type ClusterPki, createClusterPki } from '../pki/pki.ts';
import { makeCertificateRequest, type WantedCertificate } from '../pki/testing/make-certificate-request.ts';
import {
  approvalView,
  certificateSigningRequestStrategy,
} from '../registry/certificates/certificatesigningrequests.ts';
import { type FakeApi, fakeApi, fakeResource } from '../store/testing/fake-api.ts';
import { certificateApprover, certificateSeconds, certificateSigner, signerProblem } from './certificates.ts';

const plural = 'certificatesigningrequests';
const resource = fakeResource('certificates.k8s.io', plural, certificateSigningRequestStrategy, {
  approval: approvalView,
});
const node: WantedCertificate = { commonName: 'system:node:mac-1', organizations: ['system:nodes'] };
const usages = ['client auth', 'digital signature'];
const client = 'kubernetes.io/kube-apiserver-client-kubelet';

interface Status {
  conditions?: { type: string; reason: string; message: string }[];
  certificate?: string;
}

describe('the certificate controllers', () => {
  let identity: ClusterPki;
  /** Signing runs on another thread, so tests wait for these promises. */
  const signing: Promise<string>[] = [];
  before(async () => {
    const real = await createClusterPki(fakeApi().clock);
    const sign: ClusterPki['sign'] = (...request) => {
      const signed = real.sign(...request);
      signing.push(signed);
      return signed;
    };
    identity = { ...real, sign };
  });

  const submit = async (
    api: FakeApi,
    wanted: WantedCertificate,
    spec: object = {},
    status: object = {},
  ): Promise<void> => {
    const request = Buffer.from(await makeCertificateRequest(wanted)).toString('base64');
    const requester = { username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
    api.put(plural, {
      metadata: { name: 'csr' },
      spec: { request, signerName: client, usages, ...requester, ...spec },
      status,
    });
  };
  const settled = async (api: FakeApi): Promise<Status> => {
    for (let turns = 0; turns < 10; turns++) {
      await turn();
      await Promise.all(signing);
    }
    return (api.get(resource, '', 'csr') as KubeObject)['status'] as Status;
  };
  /** Runs both controllers on one request that exists before they start. */
  const run = async (
    wanted: WantedCertificate,
    spec: object,
    authorize: Authorizer,
    status: object = {},
  ): Promise<Status> => {
    const api = fakeApi(authorize, [resource]);
    await submit(api, wanted, spec, status);
    const stops = [certificateApprover, certificateSigner(identity)].map((controller) => controller.start(api));
    const result = await settled(api);
    for (const stop of stops) stop();
    return result;
  };
  const types = ({ conditions = [] }: Status): string[] => conditions.map(({ type }) => type);
  const onlySubresource =
    (allowed: string): Authorizer =>
    ({ subresource, verb, resource: asked }) => ({
      allowed: verb === 'create' && asked === plural && subresource === allowed,
      reason: '',
    });

  it('approve and sign the client certificate of a bootstrapping node', async () => {
    const status = await run(node, { expirationSeconds: 3600 }, onlySubresource('nodeclient'));
    assert.equal(
      status.conditions?.[0]?.message,
      'Auto approving kubelet client certificate after SubjectAccessReview.',
    );
    const issued = new X509Certificate(Buffer.from(status.certificate ?? '', 'base64'));
    assert.equal(issued.subject, 'O=system:nodes\nCN=system:node:mac-1');
    assert.ok(issued.verify(new X509Certificate(identity.caCertificate).publicKey));
    assert.equal(issued.validToDate.toISOString(), '2026-01-01T01:00:00.000Z');
  });

  it('renew the certificate of a node that asks for itself', async () => {
    const self = { username: 'system:node:mac-1', groups: ['system:nodes'] };
    const status = await run(node, self, onlySubresource('selfnodeclient'));
    assert.equal(
      status.conditions?.[0]?.message,
      'Auto approving self kubelet client certificate after SubjectAccessReview.',
    );
    assert.deepEqual(
      await run(node, { ...self, username: 'system:node:mac-2' }, onlySubresource('selfnodeclient')),
      {},
    );
  });

  it('handle requests created while they run, and none after they stop', async () => {
    const api = fakeApi(allowAll, [resource]);
    const stops = [certificateApprover, certificateSigner(identity)].map((controller) => controller.start(api));
    await submit(api, node);
    assert.ok((await settled(api)).certificate);
    for (const stop of stops) stop();
    await submit(api, node);
    assert.deepEqual(await settled(api), {});
  });

  for (const [why, wanted, spec] of [
    ['is for another signer', node, { signerName: 'kubernetes.io/kube-apiserver-client' }],
    [
      'is for a server',
      { ...node, addresses: ['10.0.0.1'] },
      { signerName: 'kubernetes.io/kubelet-serving', usages: ['server auth', 'digital signature'] },
    ],
    ['is for no node', { ...node, commonName: 'bob' }, {}],
    ['is for administrators', { ...node, organizations: ['system:masters'] }, {}],
    ['is for administrators as well', { ...node, organizations: ['system:nodes', 'system:masters'] }, {}],
    ['names a host', { ...node, dnsNames: ['kubernetes'] }, {}],
    ['is for signing certificates', node, { usages: [...usages, 'cert sign'] }],
  ] as const) {
    it(`do not approve a request that ${why}, even when everything is allowed`, async () => {
      assert.deepEqual(await run(wanted, spec, allowAll), {});
    });
  }

  it('do not approve a request that its requester may not make', async () => {
    assert.deepEqual(await run(node, {}, () => ({ allowed: false, reason: '' })), {});
  });

  it('sign requests that a user approved, and none that was denied', async () => {
    const approved = { conditions: [{ type: 'Approved', status: 'True' }] };
    const bob = { commonName: 'bob' };
    const spec = { signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] };
    assert.ok((await run(bob, spec, allowAll, approved)).certificate);
    assert.equal(
      (await run(bob, spec, allowAll, { conditions: [{ type: 'Denied', status: 'True' }] })).certificate,
      undefined,
    );
    assert.deepEqual(types(await run(bob, { ...spec, signerName: 'example.com/s' }, allowAll, approved)), ['Approved']);
  });

  it('report why they cannot sign an approved request', async () => {
    const status = await run({ commonName: 'bob' }, {}, allowAll, {
      conditions: [{ type: 'Approved', status: 'True' }],
    });
    assert.deepEqual(types(status), ['Approved', 'Failed']);
    assert.equal(status.conditions?.[1]?.reason, 'SignerValidationFailure');
    assert.equal(status.conditions?.[1]?.message, 'subject organization is not system:nodes');
  });

  for (const [requested, expected] of [
    [undefined, 31_536_000],
    [3600, 3600],
    [1, 600],
    [2 ** 31, 31_536_000],
  ] as const) {
    it(`issue a certificate for ${expected} s when ${requested} s were requested`, () => {
      assert.equal(certificateSeconds(requested), expected);
    });
  }
});

describe('the requirements of a signer', () => {
  const subject = {
    commonName: 'system:node:n',
    organizations: ['system:nodes'],
    dnsNames: [],
    addresses: [],
    emails: [],
    uris: [],
  };
  const serving = 'kubernetes.io/kubelet-serving';
  const api = 'kubernetes.io/kube-apiserver-client';
  const served = { ...subject, addresses: ['10.0.0.1'] };
  for (const [signer, wanted, list, expected] of [
    [client, subject, usages, undefined],
    [client, subject, [...usages, 'key encipherment'], undefined],
    [client, subject, ['client auth'], 'usages did not match [client auth digital signature key encipherment]'],
    [client, { ...subject, organizations: [] }, usages, 'subject organization is not system:nodes'],
    [client, { ...subject, dnsNames: ['x'] }, usages, 'DNS subjectAltNames are not allowed'],
    [client, { ...subject, emails: ['x'] }, usages, 'Email subjectAltNames are not allowed'],
    [client, { ...subject, addresses: ['x'] }, usages, 'IP subjectAltNames are not allowed'],
    [client, { ...subject, uris: ['x'] }, usages, 'URI subjectAltNames are not allowed'],
    [client, { ...subject, commonName: 'n' }, usages, 'subject common name does not begin with system:node:'],
    [serving, served, ['server auth', 'digital signature'], undefined],
    [serving, subject, ['server auth', 'digital signature'], 'DNS or IP subjectAltName is required'],
    [serving, served, usages, 'usages did not match [digital signature key encipherment server auth]'],
    [
      serving,
      { ...served, commonName: 'n' },
      ['server auth', 'digital signature'],
      'subject common name does not begin with system:node:',
    ],
    [api, subject, ['client auth'], undefined],
    [api, subject, ['server auth'], 'invalid usage for client certificate: server auth'],
    [api, subject, ['digital signature'], 'missing required usage for client certificate: client auth'],
  ] as const) {
    it(`${signer} answers ${expected ?? 'yes'} to [${list.join()}]`, () => {
      assert.equal(signerProblem(signer, wanted, list), expected);
    });
  }
});
