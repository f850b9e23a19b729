import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { ApiError } from '../errors/api-error.ts';
import type { ApiRequest } from '../http-messages.ts';
import { type ClusterPki, createClusterPki, type ServiceAccountClaims } from '../pki/pki.ts';
import { type FakeApi, fakeApi } from '../store/testing/fake-api.ts';
import { authenticate } from './authenticator.ts';

const request = (headers: Record<string, string> = {}, rest: Partial<ApiRequest> = {}): ApiRequest => ({
  method: 'GET',
  path: '/',
  query: new URLSearchParams(),
  headers,
  body: new Uint8Array(),
  signal: new AbortController().signal,
  ...rest,
});

const data = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));

const secret = '0123456789abcdef';
const good = {
  'token-id': 'abcdef',
  'token-secret': secret,
  'usage-bootstrap-authentication': 'true',
  'auth-extra-groups': 'system:bootstrappers:b,system:bootstrappers:a',
};

const refused = async (attempt: Promise<unknown>): Promise<void> => {
  await assert.rejects(attempt, (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual(error.status, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    });
    return true;
  });
};

describe('authentication', () => {
  let identity: ClusterPki;
  let api: FakeApi;
  const bearer = (token: string): ApiRequest => request({ authorization: `Bearer ${token}` });
  const putSecret = (values: Record<string, string>, rest: Record<string, unknown> = {}): void =>
    void api.put('secrets', {
      metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
      type: 'bootstrap.kubernetes.io/token',
      data: data(values),
      ...rest,
    });
  before(async () => {
    api = fakeApi();
    identity = await createClusterPki(api.clock);
  });

  it('a request without credentials is anonymous', async () => {
    for (const headers of [
      {},
      { authorization: 'Basic Zm9vOmJhcg==' },
      { authorization: 'Bearer' },
      { authorization: '' },
    ]) {
      const user = await authenticate(request(headers), api, identity);
      assert.deepEqual(user, { name: 'system:anonymous', groups: ['system:unauthenticated'] });
    }
  });

  it('reads user and groups from a certificate, which wins over a token', async () => {
    const certificate = { commonName: 'system:node:mac-1', organizations: ['system:nodes'], fingerprint: 'ab' };
    const user = await authenticate(request({ authorization: 'Bearer nonsense' }, { certificate }), api, identity);
    assert.deepEqual(user, {
      name: 'system:node:mac-1',
      groups: ['system:nodes', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['X509SHA256=ab'] },
    });
  });

  it('refuses a certificate of another CA, unless the request has a token', async () => {
    await refused(authenticate(request({}, { untrustedCertificate: true }), api, identity));
    putSecret(good);
    const both = request({ authorization: `bearer abcdef.${secret}` }, { untrustedCertificate: true });
    assert.equal((await authenticate(both, api, identity)).name, 'system:bootstrap:abcdef');
  });

  it('accepts a bootstrap token and sorts its groups', async () => {
    putSecret(good);
    assert.deepEqual(await authenticate(bearer(`abcdef.${secret}`), api, identity), {
      name: 'system:bootstrap:abcdef',
      groups: ['system:bootstrappers', 'system:bootstrappers:a', 'system:bootstrappers:b', 'system:authenticated'],
    });
  });

  for (const [why, values, rest] of [
    ['has another secret', { ...good, 'token-secret': '0123456789abcdeg' }, {}],
    ['has no secret', { ...good, 'token-secret': '' }, {}],
    ['has another id', { ...good, 'token-id': 'ghijkl' }, {}],
    ['is not for authentication', { ...good, 'usage-bootstrap-authentication': 'yes' }, {}],
    ['has expired', { ...good, expiration: '2025-12-31T23:59:59Z' }, {}],
    ['expires right now', { ...good, expiration: '2026-01-01T00:00:00Z' }, {}],
    ['expires nobody knows when', { ...good, expiration: 'soon' }, {}],
    ['expires at a time that is none of RFC 3339', { ...good, expiration: '2030' }, {}],
    ['wants to be an administrator', { ...good, 'auth-extra-groups': 'system:masters' }, {}],
    [
      'hides an administrator among its groups',
      { ...good, 'auth-extra-groups': 'system:bootstrappers:a,system:masters' },
      {},
    ],
    ['ends a group with a line break', { ...good, 'auth-extra-groups': 'system:bootstrappers:a\n' }, {}],
    ['is a Secret of another type', good, { type: 'Opaque' }],
    [
      'is about to be deleted',
      good,
      { metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system', deletionTimestamp: 'x' } },
    ],
  ] as const) {
    it(`refuses a bootstrap token that ${why}`, async () => {
      putSecret(values, rest);
      await refused(authenticate(bearer(`abcdef.${secret}`), api, identity));
    });
  }

  it('accepts a bootstrap token until it expires', async () => {
    putSecret({ ...good, expiration: '2026-01-01T01:00:00+01:00' });
    await refused(authenticate(bearer(`abcdef.${secret}`), api, identity));
    putSecret({ ...good, expiration: '2026-01-01T02:00:00+01:00' });
    assert.ok(await authenticate(bearer(`abcdef.${secret}`), api, identity));
  });

  it('refuses an invalid token', async () => {
    for (const token of [
      'x',
      'abcdef.0123456789abcde',
      `xxxxxx.${secret}`,
      '../../a.b',
      'a.b.c',
      `abcdef.${secret}x`,
    ]) {
      await refused(authenticate(bearer(token), api, identity));
    }
  });
});

describe('a service-account token', () => {
  let identity: ClusterPki;
  let api: FakeApi;
  const claims: ServiceAccountClaims = {
    namespace: 'default',
    serviceAccount: { name: 'builder', uid: 'uid-of-builder' },
    audiences: ['https://kubernetes.default.svc'],
    expirationSeconds: 600,
  };
  const login = async (changes: Partial<ServiceAccountClaims> = {}): ReturnType<typeof authenticate> => {
    const { token } = await identity.signToken({ ...claims, ...changes });
    return authenticate(request({ authorization: `Bearer ${token}` }), api, identity);
  };
  const place = (plural: string, name: string, rest: object = {}): void =>
    void api.put(plural, { metadata: { name, ...(plural === 'nodes' ? {} : { namespace: 'default' }), ...rest } });
  before(async () => {
    api = fakeApi();
    identity = await createClusterPki(api.clock);
  });

  it('authenticates as its service account', async () => {
    place('serviceaccounts', 'builder');
    const { extra, ...user } = await login();
    assert.deepEqual(user, {
      name: 'system:serviceaccount:default:builder',
      uid: 'uid-of-builder',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    });
    assert.match(extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '', /^JTI=/);
  });

  it('names the Pod and the Node that it is bound to', async () => {
    place('serviceaccounts', 'builder');
    place('pods', 'p');
    const { extra } = await login({ pod: { name: 'p', uid: 'uid-of-p' }, node: { name: 'gone', uid: 'n' } });
    const { 'authentication.kubernetes.io/credential-id': _id, ...rest } = extra ?? {};
    assert.deepEqual(rest, {
      'authentication.kubernetes.io/node-name': ['gone'],
      'authentication.kubernetes.io/node-uid': ['n'],
      'authentication.kubernetes.io/pod-name': ['p'],
      'authentication.kubernetes.io/pod-uid': ['uid-of-p'],
    });
  });

  it('is invalid after its account is deleted, also when the account is created again', async () => {
    place('serviceaccounts', 'builder', { uid: 'another' });
    await refused(login());
    api.remove('serviceaccounts', 'default', 'builder');
    await refused(login());
  });

  it('is invalid a minute after the deletion of its account began', async () => {
    place('serviceaccounts', 'builder', { deletionTimestamp: '2025-12-31T23:59:30Z' });
    assert.ok(await login());
    place('serviceaccounts', 'builder', { deletionTimestamp: '2025-12-31T23:58:59Z' });
    await refused(login());
  });

  for (const [plural, claim] of [
    ['pods', 'pod'],
    ['secrets', 'secret'],
    ['nodes', 'node'],
  ] as const) {
    it(`is invalid after the ${claim} that it is bound to is deleted`, async () => {
      place('serviceaccounts', 'builder');
      const bound = { [claim]: { name: 'thing', uid: 'uid-of-thing' } };
      await refused(login(bound));
      place(plural, 'thing');
      assert.ok(await login(bound));
      place(plural, 'thing', { uid: 'another' });
      await refused(login(bound));
      place(plural, 'thing', { deletionTimestamp: '2025-12-31T23:00:00Z' });
      await refused(login(bound));
    });
  }

  it('is valid at the API server only with its audience', async () => {
    place('serviceaccounts', 'builder');
    await refused(login({ audiences: ['vault'] }));
  });
});
