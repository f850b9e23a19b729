import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { masters } from '../authentication/user.ts';
import { createKubernetes, type Kubernetes } from '../kubernetes.ts';
import { copy, type KubeObject } from '../object.ts';
import type { Attributes } from './authorizer.ts';

const group = 'rbac.authorization.k8s.io';
const admin = { name: 'admin', groups: [masters] };
const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
const subjects = [{ kind: 'User', apiGroup: group, name: 'jane' }];

const question: Attributes = {
  user: { name: 'jane', groups: ['system:authenticated'] },
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'default',
  name: 'p',
  fieldSelector: '',
  labelSelector: '',
};

describe('the role cache', () => {
  let kubernetes: Kubernetes;
  beforeEach(async () => {
    kubernetes = await createKubernetes({ clock: manualClock() });
    // Only the controllers create the namespaces.
    const { api } = kubernetes;
    const namespaces = api.find('', 'namespaces') ?? assert.fail();
    if (!api.get(namespaces, '', 'default')) create('namespaces', '', {}, 'default');
  });
  afterEach(() => kubernetes.stop());

  const resource = (plural: string) =>
    kubernetes.api.find(plural === 'namespaces' ? '' : group, plural) ?? assert.fail(plural);
  const create = (plural: string, namespace: string, fields: object, name = 'x'): KubeObject => {
    const { kind } = resource(plural);
    const apiVersion = plural === 'namespaces' ? 'v1' : `${group}/v1`;
    const object = { apiVersion, kind, metadata: { name }, ...fields } as unknown as KubeObject;
    return kubernetes.api.create(resource(plural), namespace, object, admin);
  };
  const change = (plural: string, namespace: string, fields: object): void => {
    const old = kubernetes.api.get(resource(plural), namespace, 'x') ?? assert.fail(plural);
    kubernetes.api.update(resource(plural), namespace, { ...copy(old), ...fields }, admin);
  };
  const remove = (plural: string, namespace: string): void =>
    void kubernetes.api.delete(resource(plural), namespace, 'x', admin);
  const allowed = (): boolean => kubernetes.api.authorize(question).allowed;

  const ways: [string, string, string, string][] = [
    ['ClusterRole', 'clusterroles', 'clusterrolebindings', ''],
    ['ClusterRole', 'clusterroles', 'rolebindings', 'default'],
    ['Role', 'roles', 'rolebindings', 'default'],
  ];
  for (const [kind, roles, bindings, namespace] of ways) {
    const roleNamespace = kind === 'Role' ? namespace : '';
    it(`never outlives a change of ${roles} or ${bindings}`, () => {
      assert.equal(allowed(), false);
      create(bindings, namespace, { roleRef: { apiGroup: group, kind, name: 'x' }, subjects });
      assert.equal(allowed(), false, 'no such role');
      create(roles, roleNamespace, { rules });
      assert.equal(allowed(), true, 'the role is there');
      change(roles, roleNamespace, { rules: [] });
      assert.equal(allowed(), false, 'the role is empty');
      change(roles, roleNamespace, { rules });
      assert.equal(allowed(), true, 'the role is filled');
      change(bindings, namespace, { subjects: [] });
      assert.equal(allowed(), false, 'nobody is bound');
      change(bindings, namespace, { subjects });
      assert.equal(allowed(), true, 'bound again');
      remove(bindings, namespace);
      assert.equal(allowed(), false, 'the binding is gone');
      create(bindings, namespace, { roleRef: { apiGroup: group, kind, name: 'x' }, subjects });
      assert.equal(allowed(), true, 'the binding is back');
      remove(roles, roleNamespace);
      assert.equal(allowed(), false, 'the role is gone');
    });
  }

  it('names the binding that allows a request, and missing roles', () => {
    create('clusterrolebindings', '', { roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'x' }, subjects });
    create('rolebindings', 'default', { roleRef: { apiGroup: group, kind: 'Role', name: 'y' }, subjects });
    const { authorize } = kubernetes.api;
    assert.equal(authorize(question).reason, `RBAC: [clusterrole.${group} "x" not found, role.${group} "y" not found]`);
    create('clusterroles', '', { rules });
    assert.equal(
      authorize(question).reason,
      'RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "x" to User "jane"',
    );
  });

  it('is bounded in the number of users', () => {
    create('clusterrolebindings', '', { roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'x' }, subjects });
    create('clusterroles', '', { rules });
    for (let count = 0; count < 2_500; count++) {
      const user = { name: `user-${count}`, groups: [] };
      assert.equal(kubernetes.api.authorize({ ...question, user, namespace: `n-${count}` }).allowed, false);
    }
    assert.equal(allowed(), true);
  });
});
