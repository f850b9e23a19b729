import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allowAll, type Attributes, type Authorizer } from '../authorization/authorizer.ts';
import { ApiError } from '../errors/api-error.ts';
import { impersonation } from './impersonation.ts';
import type { User } from './user.ts';

describe('impersonation', () => {
  const admin: User = { name: 'admin', groups: ['system:masters'] };
  const request: Attributes = {
    user: admin,
    verb: 'list',
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: 'n',
    name: '',
    fieldSelector: '',
    labelSelector: '',
  };
  type Headers = Record<string, string>;
  const act = (headers: Headers, authorize: Authorizer = allowAll, by: User = admin): User =>
    impersonation(authorize)({ ...request, user: by }, headers);
  const refusal = (act: () => unknown): string => {
    try {
      act();
    } catch (error) {
      assert.ok(error instanceof ApiError);
      return `${error.code} ${error.message}`;
    }
    return 'no refusal';
  };

  for (const [headers, expected] of [
    [
      { 'impersonate-user': 'bob', 'impersonate-group': 'g1, g2' },
      { name: 'bob', groups: ['g1', 'g2', 'system:authenticated'] },
    ],
    [
      { 'impersonate-user': 'system:serviceaccount:default:x' },
      {
        name: 'system:serviceaccount:default:x',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      },
    ],
    [{}, { name: 'admin', groups: ['system:masters'] }],
    [
      { 'impersonate-user': 'system:node:mac-1' },
      { name: 'system:node:mac-1', groups: ['system:nodes', 'system:authenticated'] },
    ],
    [
      { 'impersonate-user': 'system:node:mac-1', 'impersonate-group': 'g' },
      { name: 'system:node:mac-1', groups: ['g', 'system:authenticated'] },
    ],
    [
      { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' },
      { name: 'bob', groups: ['system:masters', 'system:authenticated'] },
    ],
    [{ 'impersonate-user': 'system:anonymous' }, { name: 'system:anonymous', groups: ['system:unauthenticated'] }],
    [
      { 'impersonate-user': 'bob', 'impersonate-group': 'system:unauthenticated' },
      { name: 'bob', groups: ['system:unauthenticated'] },
    ],
    [
      { 'impersonate-user': 'bob', 'impersonate-uid': 'u1', 'impersonate-extra-foo%2fbar': 'x' },
      { name: 'bob', uid: 'u1', groups: ['system:authenticated'], extra: { 'foo/bar': ['x'] } },
    ],
  ] as const) {
    it(`acts as ${JSON.stringify(headers)}`, () => assert.deepEqual(act(headers as Headers), expected));
  }

  it('needs a user name', () => {
    assert.equal(
      refusal(() => act({ 'impersonate-group': 'g1' })),
      '400 requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g1"}, Extra:map[string][]string(nil)} without impersonating a user name',
    );
  });

  /** Allows the listed `verb resource name`. */
  const allowing =
    (...list: string[]): Authorizer =>
    ({ verb, group, resource, name }) => ({
      allowed: list.includes(`${verb} ${group === '' ? resource : `${resource}.${group}`} ${name}`),
      reason: 'so it is',
    });

  it('names the first missing one of the constrained permissions', () => {
    const refused: [string, string][] = [
      ['bob', 'impersonate-on:user-info:list'],
      ['system:serviceaccount:n:a', 'impersonate-on:serviceaccount:list'],
      ['system:node:mac-1', 'impersonate-on:arbitrary-node:list'],
    ];
    for (const [name, verb] of refused) {
      assert.equal(
        refusal(() => act({ 'impersonate-user': name }, allowing())),
        `403 pods is forbidden: User "admin" cannot ${verb} resource "pods" in API group "" in the namespace "n": so it is`,
      );
    }
  });

  it('is allowed with both constrained permissions, or with the legacy permission, for every part of the user', () => {
    const headers = { 'impersonate-user': 'bob', 'impersonate-group': 'g1' };
    const narrow = [
      'impersonate-on:user-info:list pods ',
      'impersonate:user-info users.authentication.k8s.io bob',
      'impersonate:user-info groups.authentication.k8s.io g1',
    ];
    const old = ['impersonate users bob', 'impersonate groups g1'];
    for (const rights of [narrow, old]) {
      assert.equal(act(headers, allowing(...rights)).name, 'bob');
      for (const missing of rights) {
        const others = rights.filter((right) => right !== missing);
        assert.match(
          refusal(() => act(headers, allowing(...others))),
          /^403 /,
          missing,
        );
      }
    }
  });

  it('refuses system:masters in the constrained modes', () => {
    const headers = { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' };
    const narrow: Authorizer = ({ verb }) => ({ allowed: verb !== 'impersonate', reason: '' });
    assert.equal(
      refusal(() => act(headers, narrow)),
      '403 groups.authentication.k8s.io "system:masters" is forbidden: User "admin" cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at the cluster scope: impersonating the system:masters group is not allowed',
    );
  });

  it('lets a service account impersonate the Node of its Pod', () => {
    const by: User = {
      name: 'system:serviceaccount:n:a',
      groups: [],
      extra: { 'authentication.kubernetes.io/node-name': ['mac-1'] },
    };
    const rights = allowing(
      'impersonate-on:associated-node:list pods ',
      'impersonate:associated-node nodes.authentication.k8s.io *',
    );
    assert.deepEqual(act({ 'impersonate-user': 'system:node:mac-1' }, rights, by).groups, [
      'system:nodes',
      'system:authenticated',
    ]);
    assert.match(
      refusal(() => act({ 'impersonate-user': 'system:node:mac-2' }, rights, by)),
      /impersonate-on:arbitrary-node/,
    );
  });

  it('words a refusal by the mode that worked for the requester before', () => {
    const impersonate = impersonation(allowing('impersonate users bob'));
    impersonate(request, { 'impersonate-user': 'bob' });
    assert.equal(
      refusal(() => impersonate(request, { 'impersonate-user': 'bob', 'impersonate-uid': 'u' })),
      '403 uids.authentication.k8s.io "u" is forbidden: User "admin" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope: so it is',
    );
  });
});
