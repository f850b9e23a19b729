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
  behaviour('a user without a role has no rights, and the error names verb, resource and namespace', async (trial) => {
    const jane = trial.unique('jane');
    const namespace = await trial.namespace();
    const as = acting(jane);
    const cannot = (what: string): string => `User "${jane}" cannot ${what}`;
    const here = `in the namespace "${namespace}"`;
    const path = `/api/v1/namespaces/${namespace}`;
    const refusals: [string, Promise<Answer>, string, Record<string, unknown>][] = [
      [
        'pods is forbidden',
        trial.get('/api/v1/pods', as),
        'list resource "pods" in API group "" at the cluster scope',
        { kind: 'pods' },
      ],
      [
        'pods is forbidden',
        trial.get(`${path}/pods`, as),
        `list resource "pods" in API group "" ${here}`,
        { kind: 'pods' },
      ],
      [
        'pods "a" is forbidden',
        trial.get(`${path}/pods/a/log`, as),
        `get resource "pods/log" in API group "" ${here}`,
        { name: 'a', kind: 'pods' },
      ],
      [
        'pods "a" is forbidden',
        trial.get(`${path}/pods/a/exec?command=ls`, as),
        `get resource "pods/exec" in API group "" ${here}`,
        { name: 'a', kind: 'pods' },
      ],
      [
        'pods "a" is forbidden',
        trial.post(`${path}/pods/a/exec?command=ls`, undefined, as),
        `create resource "pods/exec" in API group "" ${here}`,
        { name: 'a', kind: 'pods' },
      ],
      [
        'leases.coordination.k8s.io "l" is forbidden',
        trial.patch(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/l`, 'merge', {}, as),
        `patch resource "leases" in API group "coordination.k8s.io" ${here}`,
        { name: 'l', group: 'coordination.k8s.io', kind: 'leases' },
      ],
      [
        'configmaps is forbidden',
        trial.delete(`${path}/configmaps`, undefined, as),
        `deletecollection resource "configmaps" in API group "" ${here}`,
        { kind: 'configmaps' },
      ],
      [
        'things.example.com is forbidden',
        trial.get('/apis/example.com/v1/things', as),
        'list resource "things" in API group "example.com" at the cluster scope',
        { group: 'example.com', kind: 'things' },
      ],
      ['forbidden', trial.get('/metrics', as), 'get path "/metrics"', {}],
      ['forbidden', trial.get('/no-such-path', as), 'get path "/no-such-path"', {}],
    ];
    for (const [what, answer, sentence, details] of refusals)
      forbidden(await answer, `${what}: ${cannot(sentence)}`, details);
  }),

  behaviour('access to a namespace can be granted by a Role in that namespace', async (trial) => {
    const jane = trial.unique('jane');
    const namespace = await trial.namespace();
    forbidden(
      await trial.get(`/api/v1/namespaces/${namespace}`, acting(jane)),
      `namespaces "${namespace}" is forbidden: User "${jane}" cannot get resource "namespaces" in API group "" in the namespace "${namespace}"`,
      { name: namespace, kind: 'namespaces' },
    );
    await grantHere(trial, [{ verbs: ['get'], apiGroups: [''], resources: ['namespaces'] }], user(jane));
    await untilAllowed(trial, `/api/v1/namespaces/${namespace}`, acting(jane));
    assert.equal((await trial.get('/api/v1/namespaces', acting(jane))).code, 403);
  }),

  behaviour('authenticated users may use discovery, and everybody may read health and version', async (trial) => {
    const jane = acting(trial.unique('jane'));
    for (const path of ['/api', '/apis', '/apis/coordination.k8s.io/v1', '/openapi/v3', '/version', '/livez'])
      assert.equal((await trial.get(path, jane)).code, 200, path);
    for (const path of ['/version', '/healthz', '/readyz'])
      assert.equal((await trial.get(path, { as: 'anonymous' })).code, 200, path);
    for (const path of ['/api', '/apis', '/openapi/v3']) {
      const answer = await trial.get(path, { as: 'anonymous' });
      forbidden(answer, `forbidden: User "system:anonymous" cannot get path "${path}"`, {});
    }
  }),

  behaviour('a Role applies in its namespace, and so does a ClusterRole bound by a RoleBinding', async (trial) => {
    const [jane, joe] = [trial.unique('jane'), trial.unique('joe')];
    const here = await trial.collection('pods');
    await grantHere(trial, [{ ...pods, verbs: ['list'] }], user(jane));
    await trial.create(
      await trial.collection('rolebindings', 'rbac.authorization.k8s.io/v1'),
      named('RoleBinding', 'joe', { roleRef: roleRef('ClusterRole', 'view'), subjects: [user(joe)] }),
    );
    for (const name of [jane, joe]) {
      await untilAllowed(trial, here, acting(name));
      assert.equal((await trial.get('/api/v1/pods', acting(name))).code, 403);
      assert.equal((await trial.get('/api/v1/namespaces/default/pods', acting(name))).code, 403);
    }
    assert.equal((await trial.get(here.replace(/pods$/, 'configmaps'), acting(jane))).code, 403);
    assert.equal((await trial.get(here.replace(/pods$/, 'configmaps'), acting(joe))).code, 200);
    assert.equal((await trial.get(here.replace(/pods$/, 'secrets'), acting(joe))).code, 403);
  }),

  behaviour('a ClusterRoleBinding applies everywhere, until it is deleted', async (trial) => {
    const jane = trial.unique('jane');
    const name = await grantEverywhere(trial, [{ ...pods, verbs: ['list', 'watch'] }], user(jane));
    await untilAllowed(trial, '/api/v1/pods', acting(jane));
    assert.equal((await trial.get(await trial.collection('pods'), acting(jane))).code, 200);
    await trial.remove(`${clusterRoleBindings}/${name}`);
    await untilRefused(trial, '/api/v1/pods', acting(jane));
  }),

  behaviour('a change of a role changes the rights of its subjects', async (trial) => {
    const jane = trial.unique('jane');
    const name = await grantEverywhere(trial, [{ ...pods, verbs: ['list'] }], user(jane));
    await untilAllowed(trial, '/api/v1/pods', acting(jane));
    await trial.edit(`${clusterRoles}/${name}`, { rules: [{ ...pods, resources: ['nodes'], verbs: ['list'] }] });
    await untilRefused(trial, '/api/v1/pods', acting(jane));
    await untilAllowed(trial, '/api/v1/nodes', acting(jane));
  }),

  behaviour('groups and service accounts are subjects like users', async (trial) => {
    const namespace = await trial.namespace();
    const group = trial.unique('group');
    await grantEverywhere(trial, [{ ...pods, verbs: ['list'] }], { kind: 'Group', name: group });
    await untilAllowed(trial, '/api/v1/pods', acting('anybody', group));
    assert.equal((await trial.get('/api/v1/pods', acting('anybody'))).code, 403);
    const account = { kind: 'ServiceAccount', name: 'robot', namespace } as const;
    await grantEverywhere(trial, [{ ...pods, verbs: ['list'] }], account);
    await untilAllowed(trial, '/api/v1/pods', acting(`system:serviceaccount:${namespace}:robot`));
    assert.equal((await trial.get('/api/v1/pods', acting(`system:serviceaccount:default:robot`))).code, 403);
    // A RoleBinding grants rights in its own namespace.
    await grantHere(trial, [{ ...pods, verbs: ['list'] }], { kind: 'ServiceAccount', name: 'local', namespace });
    await untilAllowed(trial, await trial.collection('pods'), acting(`system:serviceaccount:${namespace}:local`));
    const all = `system:serviceaccounts:${namespace}`;
    await grantEverywhere(trial, [{ ...pods, verbs: ['watch'] }], { kind: 'Group', name: all });
  }),

  behaviour('a rule with resourceNames applies to these names, and to lists of one of them', async (trial) => {
    const jane = trial.unique('jane');
    const maps = await trial.collection('configmaps');
    for (const name of ['a', 'b']) await trial.create(maps, configMap(name));
    const verbs = ['get', 'list', 'watch', 'create', 'delete'];
    await grantHere(trial, [{ verbs, apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'] }], user(jane));
    await untilAllowed(trial, `${maps}/a`, acting(jane));
    assert.equal((await trial.get(`${maps}/b`, acting(jane))).code, 403);
    assert.equal((await trial.get(maps, acting(jane))).code, 403);
    assert.equal((await trial.get(`${maps}?fieldSelector=metadata.name%3Da`, acting(jane))).code, 200);
    const other = await trial.get(`${maps}?fieldSelector=metadata.name%3Db`, acting(jane));
    refused(other, { code: 403, message: /^configmaps "b" is forbidden: User ".*" cannot list resource "configmaps"/ });
    // On create the authorizer does not know the name yet.
    assert.equal((await trial.post(maps, configMap('a'), acting(jane))).code, 403);
  }),

  behaviour('subresources need their own rules', async (trial) => {
    const [jane, joe] = [trial.unique('jane'), trial.unique('joe')];
    const here = await trial.collection('pods');
    await grantHere(trial, [{ ...pods, verbs: ['*'] }], user(jane));
    await grantHere(trial, [{ apiGroups: [''], resources: ['*/log', 'pods/status'], verbs: ['get'] }], user(joe));
    await untilAllowed(trial, `${here}/none`, acting(jane));
    assert.equal((await trial.get(`${here}/none/log`, acting(jane))).code, 403);
    await untilAllowed(trial, `${here}/none/log`, acting(joe));
    assert.equal((await trial.get(`${here}/none/status`, acting(joe))).code, 404);
    assert.equal((await trial.get(`${here}/none`, acting(joe))).code, 403);
  }),

  behaviour('* matches all verbs, groups, resources and subresources', async (trial) => {
    const jane = trial.unique('jane');
    const namespace = await trial.namespace();
    await grantHere(trial, [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], user(jane));
    const here = await trial.collection('pods');
    await untilAllowed(trial, here, acting(jane));
    assert.equal((await trial.get(`${here}/none/log`, acting(jane))).code, 404);
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    assert.equal((await trial.get(leases, acting(jane))).code, 200);
    assert.equal((await trial.get('/api/v1/nodes', acting(jane))).code, 403);
    assert.equal((await trial.get('/metrics', acting(jane))).code, 403);
  }),

  behaviour('nonResourceURLs are matched by path, with * at the end', async (trial) => {
    const jane = trial.unique('jane');
    await grantEverywhere(trial, [{ verbs: ['get'], nonResourceURLs: ['/contract/*', '/exact'] }], user(jane));
    await untilAllowed(trial, '/contract/a', acting(jane));
    assert.equal((await trial.get('/contract/a/b', acting(jane))).code, 404);
    assert.equal((await trial.get('/exact', acting(jane))).code, 404);
    assert.equal((await trial.get('/contract', acting(jane))).code, 403);
    assert.equal((await trial.get('/exact/a', acting(jane))).code, 403);
    assert.equal((await trial.post('/exact', {}, acting(jane))).code, 403);
  }),

  behaviour('a binding to a missing role is named in every denial', async (trial) => {
    const jane = trial.unique('jane');
    const name = trial.unique('nothing');
    await trial.create(clusterRoleBindings, binding(name, { kind: 'ClusterRole', name }, user(jane)));
    trial.deleteAfterBehaviour(`${clusterRoleBindings}/${name}`);
    const sentence = `User "${jane}" cannot list resource "pods" in API group "" at the cluster scope`;
    const why = `RBAC: clusterrole.rbac.authorization.k8s.io "${name}" not found`;
    await trial.eventually('the binding to be known', async () => {
      const answer = await trial.get('/api/v1/pods', acting(jane));
      return answer.text.includes('RBAC') ? answer : undefined;
    });
    forbidden(await trial.get('/api/v1/pods', acting(jane)), `pods is forbidden: ${sentence}: ${why}`, {
      kind: 'pods',
    });
  }),

  behaviour('an aggregated role contains the rules of the roles that it selects', async (trial) => {
    const jane = trial.unique('jane');
    const label = trial.unique('aggregate');
    const name = await grantEverywhere(trial, [], user(jane));
    const selector = { matchLabels: { [`example.com/${label}`]: 'true' } };
    await trial.edit(`${clusterRoles}/${name}`, { aggregationRule: { clusterRoleSelectors: [selector] } });
    const part = trial.unique('part');
    const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['nodes'] }];
    const labels = { [`example.com/${label}`]: 'true' };
    await trial.create(clusterRoles, { ...named('ClusterRole', part, { rules }), metadata: { name: part, labels } });
    trial.deleteAfterBehaviour(`${clusterRoles}/${part}`);
    const role = await trial.waitFor(`${clusterRoles}/${name}`, (object) => readList(object, 'rules').length > 0);
    assert.deepEqual(read(role, 'rules'), rules);
    await untilAllowed(trial, '/api/v1/nodes', acting(jane));
    await trial.remove(`${clusterRoles}/${part}`);
    await untilRefused(trial, '/api/v1/nodes', acting(jane));
  }),

  behaviour('admin, edit and view exist from the start and aggregate labelled roles', async (trial) => {
    const jane = trial.unique('jane');
    const namespace = await trial.namespace();
    await trial.create(
      await trial.collection('rolebindings', 'rbac.authorization.k8s.io/v1'),
      named('RoleBinding', 'jane', { roleRef: roleRef('ClusterRole', 'view'), subjects: [user(jane)] }),
    );
    const part = trial.unique('part');
    const rules = [{ verbs: ['list'], apiGroups: ['coordination.k8s.io'], resources: ['leases'] }];
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    await untilAllowed(trial, await trial.collection('pods'), acting(jane));
    await trial.create(clusterRoles, { ...named('ClusterRole', part, { rules }), metadata: { name: part, labels } });
    trial.deleteAfterBehaviour(`${clusterRoles}/${part}`);
    await untilAllowed(trial, leases, acting(jane));
    await trial.remove(`${clusterRoles}/${part}`);
    await untilRefused(trial, leases, acting(jane));
  }),
]);
