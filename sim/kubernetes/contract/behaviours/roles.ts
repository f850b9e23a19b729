import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import type { Answer } from '../cluster.ts';
import { refused } from '../expect.ts';
import { configMap } from '../objects.ts';
import {
  acting,
  binding,
  clusterRoleBindings,
  clusterRoles,
  grantEverywhere,
  grantHere,
  named,
  roleRef,
  untilAllowed,
  untilRefused,
  user,
} from '../roles.ts';
import { read, readList } from '../read.ts';

const forbidden = (answer: Answer, message: string, details: Record<string, unknown>): void =>
  refused(answer, { code: 403, reason: 'Forbidden', message, details });

const pods = { apiGroups: [''], resources: ['pods'] };

export const roles = topic('roles', [
  behaviour(
    'a user without a role has no rights, and the error names verb, resource and namespace',
    async (context) => {
      const jane = context.unique('jane');
      const namespace = await context.namespace();
      const as = acting(jane);
      const cannot = (what: string): string => `User "${jane}" cannot ${what}`;
      const here = `in the namespace "${namespace}"`;
      const path = `/api/v1/namespaces/${namespace}`;
      const refusals: [string, Promise<Answer>, string, Record<string, unknown>][] = [
        [
          'pods is forbidden',
          context.get('/api/v1/pods', as),
          'list resource "pods" in API group "" at the cluster scope',
          { kind: 'pods' },
        ],
        [
          'pods is forbidden',
          context.get(`${path}/pods`, as),
          `list resource "pods" in API group "" ${here}`,
          { kind: 'pods' },
        ],
        [
          'pods "a" is forbidden',
          context.get(`${path}/pods/a/log`, as),
          `get resource "pods/log" in API group "" ${here}`,
          { name: 'a', kind: 'pods' },
        ],
        [
          'pods "a" is forbidden',
          context.get(`${path}/pods/a/exec?command=ls`, as),
          `get resource "pods/exec" in API group "" ${here}`,
          { name: 'a', kind: 'pods' },
        ],
        [
          'pods "a" is forbidden',
          context.post(`${path}/pods/a/exec?command=ls`, undefined, as),
          `create resource "pods/exec" in API group "" ${here}`,
          { name: 'a', kind: 'pods' },
        ],
        [
          'leases.coordination.k8s.io "l" is forbidden',
          context.patch(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/l`, 'merge', {}, as),
          `patch resource "leases" in API group "coordination.k8s.io" ${here}`,
          { name: 'l', group: 'coordination.k8s.io', kind: 'leases' },
        ],
        [
          'configmaps is forbidden',
          context.delete(`${path}/configmaps`, undefined, as),
          `deletecollection resource "configmaps" in API group "" ${here}`,
          { kind: 'configmaps' },
        ],
        [
          'things.example.com is forbidden',
          context.get('/apis/example.com/v1/things', as),
          'list resource "things" in API group "example.com" at the cluster scope',
          { group: 'example.com', kind: 'things' },
        ],
        ['forbidden', context.get('/metrics', as), 'get path "/metrics"', {}],
        ['forbidden', context.get('/no-such-path', as), 'get path "/no-such-path"', {}],
      ];
      for (const [what, answer, sentence, details] of refusals)
        forbidden(await answer, `${what}: ${cannot(sentence)}`, details);
    },
  ),

  behaviour('access to a namespace can be granted by a Role in that namespace', async (context) => {
    const jane = context.unique('jane');
    const namespace = await context.namespace();
    forbidden(
      await context.get(`/api/v1/namespaces/${namespace}`, acting(jane)),
      `namespaces "${namespace}" is forbidden: User "${jane}" cannot get resource "namespaces" in API group "" in the namespace "${namespace}"`,
      { name: namespace, kind: 'namespaces' },
    );
    await grantHere(context, [{ verbs: ['get'], apiGroups: [''], resources: ['namespaces'] }], user(jane));
    await untilAllowed(context, `/api/v1/namespaces/${namespace}`, acting(jane));
    assert.equal((await context.get('/api/v1/namespaces', acting(jane))).code, 403);
  }),

  behaviour('authenticated users may use discovery, and everybody may read health and version', async (context) => {
    const jane = acting(context.unique('jane'));
    for (const path of ['/api', '/apis', '/apis/coordination.k8s.io/v1', '/openapi/v3', '/version', '/livez'])
      assert.equal((await context.get(path, jane)).code, 200, path);
    for (const path of ['/version', '/healthz', '/readyz'])
      assert.equal((await context.get(path, { as: 'anonymous' })).code, 200, path);
    for (const path of ['/api', '/apis', '/openapi/v3']) {
      const answer = await context.get(path, { as: 'anonymous' });
      forbidden(answer, `forbidden: User "system:anonymous" cannot get path "${path}"`, {});
    }
  }),

  behaviour('a Role applies in its namespace, and so does a ClusterRole bound by a RoleBinding', async (context) => {
    const [jane, joe] = [context.unique('jane'), context.unique('joe')];
    const here = await context.collection('pods');
    await grantHere(context, [{ ...pods, verbs: ['list'] }], user(jane));
    await context.create(
      await context.collection('rolebindings', 'rbac.authorization.k8s.io/v1'),
      named('RoleBinding', 'joe', { roleRef: roleRef('ClusterRole', 'view'), subjects: [user(joe)] }),
    );
    for (const name of [jane, joe]) {
      await untilAllowed(context, here, acting(name));
      assert.equal((await context.get('/api/v1/pods', acting(name))).code, 403);
      assert.equal((await context.get('/api/v1/namespaces/default/pods', acting(name))).code, 403);
    }
    assert.equal((await context.get(here.replace(/pods$/, 'configmaps'), acting(jane))).code, 403);
    assert.equal((await context.get(here.replace(/pods$/, 'configmaps'), acting(joe))).code, 200);
    assert.equal((await context.get(here.replace(/pods$/, 'secrets'), acting(joe))).code, 403);
  }),

  behaviour('a ClusterRoleBinding applies everywhere, until it is deleted', async (context) => {
    const jane = context.unique('jane');
    const name = await grantEverywhere(context, [{ ...pods, verbs: ['list', 'watch'] }], user(jane));
    await untilAllowed(context, '/api/v1/pods', acting(jane));
    assert.equal((await context.get(await context.collection('pods'), acting(jane))).code, 200);
    await context.remove(`${clusterRoleBindings}/${name}`);
    await untilRefused(context, '/api/v1/pods', acting(jane));
  }),

  behaviour('a change of a role changes the rights of its subjects', async (context) => {
    const jane = context.unique('jane');
    const name = await grantEverywhere(context, [{ ...pods, verbs: ['list'] }], user(jane));
    await untilAllowed(context, '/api/v1/pods', acting(jane));
    await context.edit(`${clusterRoles}/${name}`, { rules: [{ ...pods, resources: ['nodes'], verbs: ['list'] }] });
    await untilRefused(context, '/api/v1/pods', acting(jane));
    await untilAllowed(context, '/api/v1/nodes', acting(jane));
  }),

  behaviour('groups and service accounts are subjects like users', async (context) => {
    const namespace = await context.namespace();
    const group = context.unique('group');
    await grantEverywhere(context, [{ ...pods, verbs: ['list'] }], { kind: 'Group', name: group });
    await untilAllowed(context, '/api/v1/pods', acting('anybody', group));
    assert.equal((await context.get('/api/v1/pods', acting('anybody'))).code, 403);
    const account = { kind: 'ServiceAccount', name: 'robot', namespace } as const;
    await grantEverywhere(context, [{ ...pods, verbs: ['list'] }], account);
    await untilAllowed(context, '/api/v1/pods', acting(`system:serviceaccount:${namespace}:robot`));
    assert.equal((await context.get('/api/v1/pods', acting(`system:serviceaccount:default:robot`))).code, 403);
    // A RoleBinding grants rights in its own namespace.
    await grantHere(context, [{ ...pods, verbs: ['list'] }], { kind: 'ServiceAccount', name: 'local', namespace });
    await untilAllowed(context, await context.collection('pods'), acting(`system:serviceaccount:${namespace}:local`));
    const all = `system:serviceaccounts:${namespace}`;
    await grantEverywhere(context, [{ ...pods, verbs: ['watch'] }], { kind: 'Group', name: all });
  }),

  behaviour('a rule with resourceNames applies to these names, and to lists of one of them', async (context) => {
    const jane = context.unique('jane');
    const maps = await context.collection('configmaps');
    for (const name of ['a', 'b']) await context.create(maps, configMap(name));
    const verbs = ['get', 'list', 'watch', 'create', 'delete'];
    await grantHere(context, [{ verbs, apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'] }], user(jane));
    await untilAllowed(context, `${maps}/a`, acting(jane));
    assert.equal((await context.get(`${maps}/b`, acting(jane))).code, 403);
    assert.equal((await context.get(maps, acting(jane))).code, 403);
    assert.equal((await context.get(`${maps}?fieldSelector=metadata.name%3Da`, acting(jane))).code, 200);
    const other = await context.get(`${maps}?fieldSelector=metadata.name%3Db`, acting(jane));
    refused(other, { code: 403, message: /^configmaps "b" is forbidden: User ".*" cannot list resource "configmaps"/ });
    // On create the authorizer does not know the name yet.
    assert.equal((await context.post(maps, configMap('a'), acting(jane))).code, 403);
  }),

  behaviour('subresources need their own rules', async (context) => {
    const [jane, joe] = [context.unique('jane'), context.unique('joe')];
    const here = await context.collection('pods');
    await grantHere(context, [{ ...pods, verbs: ['*'] }], user(jane));
    await grantHere(context, [{ apiGroups: [''], resources: ['*/log', 'pods/status'], verbs: ['get'] }], user(joe));
    await untilAllowed(context, `${here}/none`, acting(jane));
    assert.equal((await context.get(`${here}/none/log`, acting(jane))).code, 403);
    await untilAllowed(context, `${here}/none/log`, acting(joe));
    assert.equal((await context.get(`${here}/none/status`, acting(joe))).code, 404);
    assert.equal((await context.get(`${here}/none`, acting(joe))).code, 403);
  }),

  behaviour('* matches all verbs, groups, resources and subresources', async (context) => {
    const jane = context.unique('jane');
    const namespace = await context.namespace();
    await grantHere(context, [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], user(jane));
    const here = await context.collection('pods');
    await untilAllowed(context, here, acting(jane));
    assert.equal((await context.get(`${here}/none/log`, acting(jane))).code, 404);
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    assert.equal((await context.get(leases, acting(jane))).code, 200);
    assert.equal((await context.get('/api/v1/nodes', acting(jane))).code, 403);
    assert.equal((await context.get('/metrics', acting(jane))).code, 403);
  }),

  behaviour('nonResourceURLs are matched by path, with * at the end', async (context) => {
    const jane = context.unique('jane');
    await grantEverywhere(context, [{ verbs: ['get'], nonResourceURLs: ['/contract/*', '/exact'] }], user(jane));
    await untilAllowed(context, '/contract/a', acting(jane));
    assert.equal((await context.get('/contract/a/b', acting(jane))).code, 404);
    assert.equal((await context.get('/exact', acting(jane))).code, 404);
    assert.equal((await context.get('/contract', acting(jane))).code, 403);
    assert.equal((await context.get('/exact/a', acting(jane))).code, 403);
    assert.equal((await context.post('/exact', {}, acting(jane))).code, 403);
  }),

  behaviour('a binding to a missing role is named in every denial', async (context) => {
    const jane = context.unique('jane');
    const name = context.unique('nothing');
    await context.create(clusterRoleBindings, binding(name, { kind: 'ClusterRole', name }, user(jane)));
    context.deleteAfterBehaviour(`${clusterRoleBindings}/${name}`);
    const sentence = `User "${jane}" cannot list resource "pods" in API group "" at the cluster scope`;
    const why = `RBAC: clusterrole.rbac.authorization.k8s.io "${name}" not found`;
    await context.eventually('the binding to be known', async () => {
      const answer = await context.get('/api/v1/pods', acting(jane));
      return answer.text.includes('RBAC') ? answer : undefined;
    });
    forbidden(await context.get('/api/v1/pods', acting(jane)), `pods is forbidden: ${sentence}: ${why}`, {
      kind: 'pods',
    });
  }),

  behaviour('an aggregated role contains the rules of the roles that it selects', async (context) => {
    const jane = context.unique('jane');
    const label = context.unique('aggregate');
    const name = await grantEverywhere(context, [], user(jane));
    const selector = { matchLabels: { [`example.com/${label}`]: 'true' } };
    await context.edit(`${clusterRoles}/${name}`, { aggregationRule: { clusterRoleSelectors: [selector] } });
    const part = context.unique('part');
    const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['nodes'] }];
    const labels = { [`example.com/${label}`]: 'true' };
    await context.create(clusterRoles, { ...named('ClusterRole', part, { rules }), metadata: { name: part, labels } });
    context.deleteAfterBehaviour(`${clusterRoles}/${part}`);
    const role = await context.waitFor(`${clusterRoles}/${name}`, (object) => readList(object, 'rules').length > 0);
    assert.deepEqual(read(role, 'rules'), rules);
    await untilAllowed(context, '/api/v1/nodes', acting(jane));
    await context.remove(`${clusterRoles}/${part}`);
    await untilRefused(context, '/api/v1/nodes', acting(jane));
  }),

  behaviour('admin, edit and view exist from the start and aggregate labelled roles', async (context) => {
    const jane = context.unique('jane');
    const namespace = await context.namespace();
    await context.create(
      await context.collection('rolebindings', 'rbac.authorization.k8s.io/v1'),
      named('RoleBinding', 'jane', { roleRef: roleRef('ClusterRole', 'view'), subjects: [user(jane)] }),
    );
    const part = context.unique('part');
    const rules = [{ verbs: ['list'], apiGroups: ['coordination.k8s.io'], resources: ['leases'] }];
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    await untilAllowed(context, await context.collection('pods'), acting(jane));
    await context.create(clusterRoles, { ...named('ClusterRole', part, { rules }), metadata: { name: part, labels } });
    context.deleteAfterBehaviour(`${clusterRoles}/${part}`);
    await untilAllowed(context, leases, acting(jane));
    await context.remove(`${clusterRoles}/${part}`);
    await untilRefused(context, leases, acting(jane));
  }),
]);
