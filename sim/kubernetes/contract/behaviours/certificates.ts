import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import type { KubeObject } from '../../src/object.ts';
import { behaviour, topic } from '../behaviour.ts';
import { bootstrapToken } from '../bootstrap-tokens.ts';
import { objectIn } from '../cluster.ts';
import { newCertificateRequest } from '../certificate-request.ts';
import { includes, refused } from '../expect.ts';
import { read, readList, readText } from '../read.ts';
import type { BehaviourContext } from '../behaviour-context.ts';
import { whoAmI } from '../who-am-i.ts';

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const nodeClient = 'kubernetes.io/kube-apiserver-client-kubelet';

const signingRequest = (name: string, spec: Record<string, unknown>): Record<string, unknown> => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name },
  spec: { signerName: nodeClient, usages: ['digital signature', 'client auth'], ...spec },
});

/** The roles that kubeadm grants to bootstrappers. A server without RBAC answers 404 and allows everything. */
const grant = async (context: BehaviourContext, group: string): Promise<void> => {
  for (const role of ['system:node-bootstrapper', 'system:certificates.k8s.io:certificatesigningrequests:nodeclient']) {
    const name = context.unique('contract');
    const answer = await context.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
    });
    if (answer.code === 404) return;
    assert.equal(answer.code, 201, answer.text);
    context.deleteAfterBehaviour(`/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${name}`);
  }
};

const submit = async (context: BehaviourContext, spec: Record<string, unknown>): Promise<KubeObject> => {
  const created = await context.create(requests, signingRequest(context.unique('csr'), spec));
  context.deleteAfterBehaviour(`${requests}/${created.metadata.name}`);
  return created;
};

const certificateOf = (object: unknown): string =>
  Buffer.from(readText(object, 'status.certificate'), 'base64').toString();

const conditionTypes = (object: unknown): unknown[] =>
  readList(object, 'status.conditions').map((each) => read(each, 'type'));

export const certificates = topic('certificates', [
  behaviour('a bootstrap token gets a working node certificate without manual approval', async (context) => {
    const group = `system:bootstrappers:${context.unique('contract')}`;
    await grant(context, group);
    const { id, token } = await bootstrapToken(context, { 'auth-extra-groups': group });
    const node = context.unique('node');
    const { key, request } = await newCertificateRequest(`system:node:${node}`, ['system:nodes']);
    // The caches of the real server learn of the token and the roles a moment later.
    const created = await context.eventually('the bootstrapper to be let in', async () => {
      const body = { ...signingRequest('', { request }), metadata: { generateName: 'csr-' } };
      const answer = await context.post(requests, body, { as: { token } });
      return answer.code === 201 ? objectIn(answer) : undefined;
    });
    const path = `${requests}/${created.metadata.name}`;
    context.deleteAfterBehaviour(path);
    includes(created.spec, {
      username: `system:bootstrap:${id}`,
      groups: ['system:bootstrappers', group, 'system:authenticated'],
    });
    const signed = await context.waitFor(path, (object) => read(object, 'status.certificate') !== undefined);
    includes(read(signed, 'status.conditions.0'), { type: 'Approved', status: 'True', reason: 'AutoApproved' });
    const certificate = certificateOf(signed);
    const subject = new X509Certificate(certificate).subject.split('\n').sort();
    assert.deepEqual(subject, [`CN=system:node:${node}`, 'O=system:nodes']);
    includes(await whoAmI(context, { certificate, key }), {
      username: `system:node:${node}`,
      groups: ['system:nodes', 'system:authenticated'],
    });
  }),

  behaviour('a request for another signer waits for approval, and is then signed', async (context) => {
    const { key, request } = await newCertificateRequest('jane', ['team']);
    const created = await submit(context, {
      request,
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    });
    const path = `${requests}/${created.metadata.name}`;
    assert.deepEqual(created.status, {});
    const condition = { type: 'Approved', status: 'True', reason: 'Tested', message: 'It was tested' };
    const approved = await context.replace(`${path}/approval`, { ...created, status: { conditions: [condition] } });
    includes(read(approved, 'status.conditions.0'), condition);
    assert.match(String(read(approved, 'status.conditions.0.lastUpdateTime')), /Z$/);
    const signed = await context.waitFor(path, (object) => read(object, 'status.certificate') !== undefined);
    includes(await whoAmI(context, { certificate: certificateOf(signed), key }), {
      username: 'jane',
      groups: ['team', 'system:authenticated'],
    });
  }),

  behaviour('the server sets the requesting user, whatever the body says', async (context) => {
    const { request } = await newCertificateRequest('x', []);
    const created = await submit(context, {
      request,
      username: 'somebody',
      groups: ['else'],
      signerName: 'example.com/signer',
    });
    includes(created.spec, { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] });
  }),

  behaviour('approval is possible neither by the main endpoint nor by /status', async (context) => {
    const { request } = await newCertificateRequest('x', []);
    const created = await submit(context, { request, signerName: 'example.com/signer' });
    const path = `${requests}/${created.metadata.name}`;
    const condition = { type: 'Approved', status: 'True', reason: 'Tested', message: '' };
    const main = await context.replace(path, { ...created, status: { conditions: [condition] } });
    assert.deepEqual(conditionTypes(main), []);
    const status = await context.put(`${path}/status`, { ...main, status: { conditions: [condition] } });
    assert.deepEqual(conditionTypes(await context.fetch(path)), []);
    refused(status, { code: 422, reason: 'Invalid' });
  }),

  behaviour('a denial is final, and cannot become an approval', async (context) => {
    const { request } = await newCertificateRequest('x', []);
    const created = await submit(context, { request, signerName: 'example.com/signer' });
    const path = `${requests}/${created.metadata.name}/approval`;
    const condition = (type: string): Record<string, string> => ({
      type,
      status: 'True',
      reason: 'Tested',
      message: '',
    });
    const denied = await context.replace(path, { ...created, status: { conditions: [condition('Denied')] } });
    refused(
      await context.put(path, { ...denied, status: { conditions: [condition('Denied'), condition('Approved')] } }),
      {
        code: 422,
        reason: 'Invalid',
        message: /Approved and Denied conditions are mutually exclusive/,
      },
    );
  }),

  behaviour('the spec is immutable', async (context) => {
    const { request } = await newCertificateRequest('x', []);
    const created = await submit(context, { request, signerName: 'example.com/signer' });
    const edited = await context.edit(`${requests}/${created.metadata.name}`, { spec: { usages: ['server auth'] } });
    assert.deepEqual(edited.spec, created.spec);
  }),

  behaviour('a request without valid PKCS#10 or without usages is invalid', async (context) => {
    const name = context.unique('csr');
    refused(
      await context.post(requests, signingRequest(name, { request: Buffer.from('nonsense').toString('base64') })),
      {
        code: 422,
        reason: 'Invalid',
        message: /spec\.request: Invalid value: .*: PEM block type must be CERTIFICATE REQUEST/,
      },
    );
    const { request } = await newCertificateRequest('x', []);
    refused(await context.post(requests, signingRequest(name, { request, usages: [] })), {
      code: 422,
      reason: 'Invalid',
      message: /spec\.usages: Required value/,
    });
    refused(await context.post(requests, signingRequest(name, { request, signerName: 'plain' })), {
      code: 422,
      reason: 'Invalid',
      message: /spec\.signerName: Invalid value: "plain"/,
    });
  }),

  behaviour('the kubelet signer fails a request that is not from a node', async (context) => {
    const { request } = await newCertificateRequest('jane', ['system:nodes']);
    const created = await submit(context, { request });
    const path = `${requests}/${created.metadata.name}`;
    const condition = { type: 'Approved', status: 'True', reason: 'Tested', message: '' };
    await context.replace(`${path}/approval`, { ...created, status: { conditions: [condition] } });
    const failed = await context.waitFor(path, (object) => conditionTypes(object).includes('Failed'));
    assert.equal(certificateOf(failed), '');
    includes(
      readList(failed, 'status.conditions').find((each) => read(each, 'type') === 'Failed'),
      { status: 'True', reason: 'SignerValidationFailure' },
    );
  }),
]);
