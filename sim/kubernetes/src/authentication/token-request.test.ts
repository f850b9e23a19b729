import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { PlainResponse } from '../http-messages.ts';
import type { KubeObject } from '../object.ts';
import { type ClusterPki, createClusterPki } from '../pki/pki.ts';
import type { ActionRequest } from '../resource.ts';
import { type FakeApi, fakeApi } from '../store/testing/fake-api.ts';
import { tokenRequest } from './token-request.ts';

describe('a token request', () => {
  let identity: ClusterPki;
  let api: FakeApi;
  const ask = async (body: object, name = 'builder'): Promise<Record<string, never>> => {
    const call: ActionRequest = {
      verb: 'create',
      name,
      namespace: 'default',
      rest: '',
      query: new URLSearchParams(),
      headers: {},
      signal: new AbortController().signal,
      body: body as KubeObject,
      context: { api, user: { name: 'u', groups: [] }, dryRun: false },
    };
    const answer = (await tokenRequest(identity)(call)) as PlainResponse;
    assert.equal(answer.code, 201);
    return JSON.parse(String(answer.body)) as Record<string, never>;
  };
  before(async () => {
    api = fakeApi();
    identity = await createClusterPki(api.clock);
    api.put('serviceaccounts', { metadata: { name: 'builder', namespace: 'default' } });
    api.put('pods', {
      metadata: { name: 'p', namespace: 'default' },
      spec: { serviceAccountName: 'builder', nodeName: 'n' },
    });
    api.put('pods', { metadata: { name: 'other', namespace: 'default' }, spec: { serviceAccountName: 'else' } });
    api.put('nodes', { metadata: { name: 'n' } });
    api.put('secrets', { metadata: { name: 's', namespace: 'default' } });
  });

  it('returns a token for an hour and for the API server by default', async () => {
    const { status, ...answer } = (await ask({ metadata: {}, spec: {} })) as unknown as {
      status: { token: string; expirationTimestamp: string };
    };
    assert.deepEqual(answer, {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {
        name: 'builder',
        namespace: 'default',
        uid: 'uid-of-builder',
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
      spec: { audiences: ['https://kubernetes.default.svc'], expirationSeconds: 3600, boundObjectRef: null },
    });
    assert.equal(status.expirationTimestamp, '2026-01-01T01:00:00Z');
    assert.equal((await identity.verifyToken(status.token))?.serviceAccount.uid, 'uid-of-builder');
  });

  for (const [kind, name, expected] of [
    ['Pod', 'p', { pod: { name: 'p', uid: 'uid-of-p' }, node: { name: 'n', uid: 'uid-of-n' } }],
    ['Node', 'n', { node: { name: 'n', uid: 'uid-of-n' } }],
    ['Secret', 's', { secret: { name: 's', uid: 'uid-of-s' } }],
  ] as const) {
    it(`binds a token to a ${kind}`, async () => {
      const { status } = await ask({
        spec: { boundObjectRef: { kind, apiVersion: 'v1', name }, expirationSeconds: 600 },
      });
      const { id: _id, ...claims } =
        (await identity.verifyToken(status?.['token'] ?? '')) ?? assert.fail('not verified');
      assert.deepEqual(claims, {
        namespace: 'default',
        serviceAccount: { name: 'builder', uid: 'uid-of-builder' },
        audiences: ['https://kubernetes.default.svc'],
        expirationSeconds: 600,
        ...expected,
      });
    });
  }

  for (const [why, body, message, code] of [
    [
      'too short',
      { spec: { expirationSeconds: 599 } },
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
      422,
    ],
    [
      'too long',
      { spec: { expirationSeconds: 2 ** 32 + 1 } },
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
      422,
    ],
    [
      'for a Pod that is not there',
      { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'x' } } },
      'pods "x" not found',
      404,
    ],
    [
      'for the Pod of another account',
      { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'other' } } },
      'cannot bind token for serviceaccount "builder" to pod running with different serviceaccount name.',
      400,
    ],
    [
      'for a kind that tokens are not bound to',
      { spec: { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' } } },
      'cannot bind token to object of type /v1, Kind=ConfigMap',
      400,
    ],
    [
      'for a Pod of a group that has none',
      { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'apps/v1', name: 'p' } } },
      'cannot bind token to object of type apps/v1, Kind=Pod',
      400,
    ],
    [
      'for a Pod that has been replaced',
      { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'no' } } },
      'Operation cannot be fulfilled on Pod "p": the UID in the bound object reference (no) does not match the UID in record. The object might have been deleted and then recreated',
      409,
    ],
    [
      'about another name',
      { metadata: { name: 'foo' }, spec: {} },
      'TokenRequest.authentication.k8s.io "builder" is invalid: metadata.name: Invalid value: "foo": must match the service account name if specified',
      422,
    ],
    [
      'about an account that has been replaced',
      { metadata: { uid: 'foo' }, spec: {} },
      'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "builder": the UID in the token request (foo) does not match the UID of the service account (uid-of-builder)',
      409,
    ],
  ] as const) {
    it(`is refused when it is ${why}`, async () => {
      await assert.rejects(ask(body), { message, code });
    });
  }

  it('is refused for a missing account', async () => {
    await assert.rejects(ask({ spec: {} }, 'nope'), { message: 'serviceaccounts "nope" not found', code: 404 });
  });
});
