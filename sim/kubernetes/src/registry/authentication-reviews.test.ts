import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { User } from '../authentication/user.ts';
import type { Attributes, Authorizer } from '../authorization/authorizer.ts';
import { ApiError } from '../errors/api-error.ts';
import type { KubeObject } from '../object.ts';
import { type ClusterPki, createClusterPki } from '../pki/pki.ts';
import { type FakeApi, fakeApi } from '../store/testing/fake-api.ts';
import { reviews } from './authentication-reviews.ts';

const bob: User = { name: 'bob', uid: 'u', groups: ['g', 'system:authenticated'], extra: { k: ['v'] } };

describe('reviews', () => {
  let identity: ClusterPki;
  let api: FakeApi;
  before(async () => {
    api = fakeApi();
    identity = await createClusterPki(api.clock);
  });
  const review = async (plural: string, object: object, on: FakeApi = api, user: User = bob): Promise<KubeObject> => {
    const run = reviews(identity)[plural] ?? assert.fail(`no ${plural}`);
    const full = { metadata: {}, ...object } as unknown as KubeObject;
    return run(full, { api: on, user, dryRun: false });
  };
  const asked = (allow: (attributes: Attributes) => boolean): { on: FakeApi; questions: Attributes[] } => {
    const questions: Attributes[] = [];
    const authorize: Authorizer = (attributes) => {
      questions.push(attributes);
      return { allowed: allow(attributes), reason: '' };
    };
    return { on: fakeApi(authorize), questions };
  };

  it('SelfSubjectReview returns the requesting user', async () => {
    assert.deepEqual(await review('selfsubjectreviews', {}), {
      kind: 'SelfSubjectReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
      status: { userInfo: { username: 'bob', uid: 'u', groups: ['g', 'system:authenticated'], extra: { k: ['v'] } } },
    });
  });

  it('TokenReview returns the user of a token', async () => {
    api.put('serviceaccounts', { metadata: { name: 'a', namespace: 'n' } });
    const account = { namespace: 'n', serviceAccount: { name: 'a', uid: 'uid-of-a' }, expirationSeconds: 600 };
    const { token } = await identity.signToken({ ...account, audiences: [identity.issuer, 'x'] });
    const { status } = await review('tokenreviews', { spec: { token } });
    const { user, ...rest } = status as { user: { username: string; groups: string[] } };
    assert.deepEqual(rest, { authenticated: true, audiences: [identity.issuer] });
    assert.equal(user.username, 'system:serviceaccount:n:a');
    assert.deepEqual(user.groups, ['system:serviceaccounts', 'system:serviceaccounts:n', 'system:authenticated']);
    const narrowed = await review('tokenreviews', { spec: { token, audiences: ['x', 'y'] } });
    assert.deepEqual((narrowed['status'] as { audiences: string[] }).audiences, ['x']);
  });

  it('TokenReview returns why a token is invalid, without the expected value', async () => {
    api.put('serviceaccounts', { metadata: { name: 'a', namespace: 'n' } });
    const account = { namespace: 'n', serviceAccount: { name: 'a', uid: 'uid-of-a' }, expirationSeconds: 600 };
    const { token } = await identity.signToken({ ...account, audiences: [identity.issuer] });
    const bound = await identity.signToken({ ...account, audiences: [identity.issuer], pod: { name: 'p', uid: 'q' } });
    const replaced = { ...account, serviceAccount: { name: 'a', uid: 'old' } };
    const stale = await identity.signToken({ ...replaced, audiences: [identity.issuer] });
    const cases: [object, string][] = [
      [{ token: 'aa' }, 'invalid bearer token'],
      [{ token: 'abcdef.0123456789abcdef' }, 'invalid bearer token'],
      [
        { token, audiences: ['z'] },
        '[invalid bearer token, token audiences ["https://kubernetes.default.svc"] is invalid for the target audiences ["z"]]',
      ],
      [{ token: bound.token }, '[invalid bearer token, service account token has been invalidated]'],
      [{ token: stale.token }, '[invalid bearer token, service account UID (uid-of-a) does not match claim (old)]'],
    ];
    for (const [spec, error] of cases) {
      assert.deepEqual((await review('tokenreviews', { spec }))['status'], { user: {}, error });
    }
    await assert.rejects(review('tokenreviews', { spec: {} }), {
      message: 'token is required for TokenReview in authentication',
    });
  });

  it('access reviews return what a user may do', async () => {
    const { on, questions } = asked(({ user }) => user.name === 'carol');
    const spec = {
      user: 'carol',
      groups: ['g'],
      uid: '1',
      extra: { k: ['v'] },
      resourceAttributes: {
        verb: 'list',
        group: 'apps',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'n',
        name: 'x',
        fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['mac-1'] }] },
        labelSelector: {
          requirements: [
            { key: 'a', operator: 'In', values: ['1', '2'] },
            { key: 'b', operator: 'DoesNotExist' },
            { key: 'c', operator: 'Nonsense' },
          ],
        },
      },
    };
    assert.deepEqual((await review('subjectaccessreviews', { spec }, on))['status'], { allowed: true });
    assert.deepEqual(questions.slice(), [
      {
        user: { name: 'carol', uid: '1', groups: ['g'], extra: { k: ['v'] } },
        verb: 'list',
        group: 'apps',
        version: '*',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'n',
        name: 'x',
        fieldSelector: 'spec.nodeName=mac-1',
        labelSelector: 'a in (1,2),!b',
      },
    ]);
    const self = { spec: { nonResourceAttributes: { verb: 'get', path: '/healthz' } } };
    assert.deepEqual((await review('selfsubjectaccessreviews', self, on))['status'], { allowed: false });
    assert.equal(questions[1]?.user, bob);
    assert.equal(questions[1]?.nonResourcePath, '/healthz');
    const local = {
      metadata: { namespace: 'n' },
      spec: { user: 'carol', resourceAttributes: { verb: 'get', namespace: 'n' } },
    };
    assert.deepEqual((await review('localsubjectaccessreviews', local, on))['status'], { allowed: true });
  });

  const nothing = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  for (const [plural, object, message] of [
    [
      'subjectaccessreviews',
      { spec: {} },
      `[spec.resourceAttributes: Invalid value: null: ${nothing}, spec.user: Invalid value: "": at least one of user or group must be specified]`,
    ],
    ['selfsubjectaccessreviews', {}, `spec.resourceAttributes: Invalid value: null: ${nothing}`],
    [
      'selfsubjectaccessreviews',
      { spec: { resourceAttributes: {}, nonResourceAttributes: { path: '/x', verb: 'get' } } },
      'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes',
    ],
    [
      'selfsubjectaccessreviews',
      { metadata: { name: 'x', creationTimestamp: null }, spec: { resourceAttributes: {} } },
      'metadata: Invalid value: {"name":"x","creationTimestamp":null}: must be empty',
    ],
    [
      'localsubjectaccessreviews',
      { metadata: { namespace: 'n' }, spec: { user: 'x', resourceAttributes: {} } },
      'spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace',
    ],
    [
      'localsubjectaccessreviews',
      { metadata: { namespace: 'n' }, spec: { user: 'x', nonResourceAttributes: { path: '/x', verb: 'get' } } },
      'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request',
    ],
  ] as const) {
    it(`refuse ${plural} ${JSON.stringify(object)}`, async () => {
      await assert.rejects(review(plural, object), (error) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.code, 422);
        assert.equal(error.message, `.authorization.k8s.io "" is invalid: ${message}`);
        assert.equal(error.status.details?.kind, undefined);
        return true;
      });
    });
  }

  it('list one rule for a user with all rights', async () => {
    assert.deepEqual((await review('selfsubjectrulesreviews', { spec: { namespace: 'n' } }))['status'], {
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      incomplete: false,
    });
  });

  it('find the rules of another user by checking each, and report that some may be missing', async () => {
    const { on } = asked(
      ({ verb, resource, nonResourcePath }) => (verb === 'get' && resource === 'pods') || nonResourcePath === '/api',
    );
    assert.deepEqual((await review('selfsubjectrulesreviews', { spec: { namespace: 'n' } }, on))['status'], {
      resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/api'] }],
      incomplete: true,
    });
    await assert.rejects(review('selfsubjectrulesreviews', { spec: {} }), {
      message: 'no namespace on request',
      code: 400,
    });
  });
});
