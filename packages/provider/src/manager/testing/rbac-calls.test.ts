import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PolicyRules, Transport, TransportRequest } from '@tartan/kube';
import { callOf, deniedCalls, formatCall, recordCalls, singleRights, unusedRights } from './rbac-calls.ts';

const table: [method: TransportRequest['method'], path: string, call: string | undefined][] = [
  ['GET', '/api/v1/nodes', 'list nodes'],
  ['GET', '/api/v1/nodes?watch=true&resourceVersion=1', 'watch nodes'],
  ['GET', '/api/v1/nodes/a', 'get nodes a'],
  ['GET', '/api/v1/namespaces', 'list namespaces'],
  ['GET', '/api/v1/namespaces/x', 'get namespaces x'],
  ['GET', '/api/v1/namespaces/x/secrets', 'list secrets in x'],
  ['PUT', '/api/v1/namespaces/x/secrets/y', 'update secrets y in x'],
  ['POST', '/api/v1/namespaces/x/serviceaccounts/y/token', 'create serviceaccounts/token y in x'],
  ['PATCH', '/apis/apps/v1/namespaces/x/deployments/y', 'patch deployments (apps) y in x'],
  ['DELETE', '/apis/apps/v1/namespaces/x/deployments/y', 'delete deployments (apps) y in x'],
  ['DELETE', '/apis/apps/v1/namespaces/x/deployments', 'deletecollection deployments (apps) in x'],
  ['PATCH', '/apis/a.b/v1/machosts/x/status', 'patch machosts/status (a.b) x'],
  ['GET', '/', undefined],
  ['GET', '/version', undefined],
];

describe('the RBAC attributes of a request', () => {
  for (const [method, path, call] of table)
    it(`${method} ${path}: ${call ?? 'none'}`, () => {
      const found = callOf({ method, path });
      assert.equal(found && formatCall(found), call);
    });
});

describe('a log of calls', () => {
  const answer = { code: 200, headers: {}, body: (async function* () {})() };
  const inner: Transport = {
    send: async () => answer,
    upgrade: () => Promise.reject(new Error()),
    close: () => {},
  } as never;
  const send = (transport: Transport, method: TransportRequest['method'], path: string, body?: object) =>
    transport.send({
      method,
      path,
      headers: {},
      signal: new AbortController().signal,
      ...(body && { body: JSON.stringify(body) }),
    });
  const rights: PolicyRules = {
    clusterWide: [{ apiGroups: [''], resources: ['nodes', 'pods'], verbs: ['get', 'list'] }],
    inNamespace: { x: [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'], verbs: ['get'] }] },
  };

  it('lists denied calls and unused rights', async () => {
    const { transport, calls } = recordCalls(inner);
    const asked: [TransportRequest['method'], string][] = [
      ['GET', '/api/v1/nodes'],
      ['GET', '/api/v1/nodes/n'],
      ['GET', '/api/v1/pods/n'],
      ['GET', '/api/v1/namespaces/x/secrets/a'],
      ['GET', '/api/v1/namespaces/y/secrets/a'],
      ['DELETE', '/api/v1/nodes/n'],
    ];
    for (const [method, path] of asked) await send(transport, method, path);
    const atoms = singleRights(rights);
    assert.deepEqual(deniedCalls(calls(), atoms).map(formatCall), ['get secrets a in y', 'delete nodes n']);
    assert.deepEqual(unusedRights(calls(), atoms).map(formatCall), ['list pods', 'get secrets b in x']);
  });

  it('includes the calls that the server authorizes in addition', async () => {
    const { transport, calls } = recordCalls(inner);
    const approval = '/apis/certificates.k8s.io/v1/certificatesigningrequests/a/approval';
    await send(transport, 'PUT', approval, { spec: { signerName: 'a/b' } });
    const owner = { apiVersion: 'g/v1', kind: 'ExternalControlPlane', blockOwnerDeletion: true };
    await send(transport, 'POST', '/api/v1/namespaces/x/secrets', { metadata: { ownerReferences: [owner] } });
    assert.deepEqual(calls().map(formatCall), [
      'update certificatesigningrequests/approval (certificates.k8s.io) a',
      'approve signers (certificates.k8s.io) a/b',
      'create secrets in x',
      'update externalcontrolplanes/finalizers (g)',
    ]);
  });
});
