import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { KubeObject } from '../object.ts';
import { type Fixture, fixture, rejection } from './testing/fixture.ts';

describe('roles and bindings', () => {
  const key = (plural: string): string => `${plural}.rbac.authorization.k8s.io`;

  let cluster: Fixture;
  beforeEach(() => {
    cluster = fixture();
  });
  const create = (plural: string, fields: object): KubeObject =>
    cluster.create(key(plural), { metadata: { name: 'system:X' }, ...fields });
  const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
  const group = 'rbac.authorization.k8s.io';

  describe('roles and bindings', () => {
    it('get the default apiGroup', () => {
      const made = create('rolebindings', {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'ServiceAccount', name: 's' },
        ],
      });
      assert.deepEqual(made['roleRef'], { apiGroup: group, kind: 'Role', name: 'r' });
      assert.deepEqual(made['subjects'], [
        { kind: 'User', apiGroup: group, name: 'u' },
        { kind: 'ServiceAccount', name: 's' },
      ]);
    });

    it('return their rules even when there are none', () => assert.equal(create('clusterroles', {})['rules'], null));

    const refusals: [string, string, object, string[]][] = [
      [
        'a rule without verbs',
        'roles',
        { rules: [{ ...rule, verbs: [] }] },
        ['rules[0].verbs: Required value: verbs must contain at least one value'],
      ],
      [
        'a rule about nothing',
        'roles',
        { rules: [{ verbs: ['get'] }] },
        [
          'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
          'rules[0].resources: Required value: resource rules must supply at least one resource',
        ],
      ],
      [
        'a path in a namespace',
        'roles',
        { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] },
        ['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'],
      ],
      [
        'a path and resources',
        'clusterroles',
        { rules: [{ ...rule, nonResourceURLs: ['/x'] }] },
        [
          'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and non-resource URLs',
        ],
      ],
      [
        'an aggregation of nothing',
        'clusterroles',
        { aggregationRule: {} },
        [
          'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
        ],
      ],
      [
        'an unknown operator',
        'clusterroles',
        { aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: 'a', operator: 'x' }] }] } },
        [
          'aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "x": not a valid selector operator',
          'aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.',
        ],
      ],
      [
        'no role',
        'rolebindings',
        { roleRef: { kind: 'X' } },
        [
          'roleRef.kind: Unsupported value: "X": supported values: "Role", "ClusterRole"',
          'roleRef.name: Required value',
        ],
      ],
      [
        'a Role for the cluster',
        'clusterrolebindings',
        { roleRef: { kind: 'Role', name: 'r' } },
        ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
      ],
      [
        'an account of no namespace',
        'clusterrolebindings',
        { roleRef: { kind: 'ClusterRole', name: 'r' }, subjects: [{ kind: 'ServiceAccount', name: 's' }] },
        ['subjects[0].namespace: Required value'],
      ],
      [
        'an unknown subject',
        'rolebindings',
        { roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'X', name: 'x' }] },
        ['subjects[0].kind: Unsupported value: "X": supported values: "ServiceAccount", "User", "Group"'],
      ],
      [
        'a group of another group',
        'rolebindings',
        { roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'Group', name: 'g', apiGroup: 'x' }] },
        [`subjects[0].apiGroup: Unsupported value: "x": supported values: "${group}"`],
      ],
    ];
    for (const [name, plural, fields, causes] of refusals) {
      it(`are invalid with ${name}`, async () =>
        assert.deepEqual(await rejection(() => create(plural, fields)), ['422', ...causes]));
    }

    it('have an immutable roleRef', async () => {
      const made = create('rolebindings', { roleRef: { kind: 'Role', name: 'r' } });
      assert.deepEqual(
        await rejection(() => cluster.update(key('rolebindings'), { ...made, roleRef: { kind: 'Role', name: 's' } })),
        ['422', `roleRef: Invalid value: {"APIGroup":"${group}","Kind":"Role","Name":"s"}: cannot change roleRef`],
      );
    });
  });
});
