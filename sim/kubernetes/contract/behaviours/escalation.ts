import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import {
  acting,
  binding,
  clusterRoleBindings,
  clusterRoles,
  grantEverywhere,
  named,
  type Rule,
  user,
} from '../roles.ts';
import type { BehaviourContext } from '../behaviour-context.ts';

const group = 'rbac.authorization.k8s.io';
const kinds = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'];
const writing: Rule = { verbs: ['get', 'list', 'create', 'update', 'patch'], apiGroups: [group], resources: kinds };

/** A user who may write roles and bindings, and has `rules` in addition. */
const writer = async (context: BehaviourContext, ...rules: Rule[]): Promise<string> => {
  const name = context.unique('writer');
  await grantEverywhere(context, [writing, ...rules], user(name));
  await context.eventually('the right to write roles', async () => {
    const answer = await context.get(clusterRoles, acting(name));
    return answer.code === 200 ? answer : undefined;
  });
  return name;
};

const notHeld = (name: string, lines: readonly string[]): string =>
  `user "${name}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`;

const secrets: Rule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['secrets'] };

export const escalation = topic('privilege escalation', [
  behaviour('a user cannot write a ClusterRole with rights that they do not have', async (context) => {
    const name = await writer(context, { ...secrets, verbs: ['get'] });
    const role = context.unique('role');
    const rules = [
      { ...secrets, resources: ['secrets', 'pods'] },
      { verbs: ['get'], apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['a', 'b'] },
      { verbs: ['get', 'post'], nonResourceURLs: ['/metrics'] },
      { verbs: ['get'], nonResourceURLs: ['/api/*'] },
    ];
    refused(await context.post(clusterRoles, named('ClusterRole', role, { rules }), acting(name)), {
      code: 403,
      reason: 'Forbidden',
      message: `clusterroles.${group} "${role}" is forbidden: ${notHeld(name, [
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["list"]}',
        '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["a"], Verbs:["get"]}',
        '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["b"], Verbs:["get"]}',
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
        '{NonResourceURLs:["/metrics"], Verbs:["post"]}',
      ])}`,
      details: { name: role, group, kind: 'clusterroles' },
    });
    const held = [{ ...secrets, verbs: ['get'], resourceNames: ['a'] }];
    context.deleteAfterBehaviour(`${clusterRoles}/${role}`);
    const made = await context.post(clusterRoles, named('ClusterRole', role, { rules: held }), acting(name));
    assert.equal(made.code, 201, made.text);
    const wider = [{ ...secrets, verbs: ['get', 'delete'] }];
    refused(await context.patch(`${clusterRoles}/${role}`, 'merge', { rules: wider }, acting(name)), {
      code: 403,
      message: `clusterroles.${group} "${role}" is forbidden: ${notHeld(name, [
        '{APIGroups:[""], Resources:["secrets"], Verbs:["delete"]}',
      ])}`,
    });
  }),

  behaviour('a user cannot write a Role with rights that they do not have in its namespace', async (context) => {
    const name = await writer(context);
    const roles = await context.collection('roles', `${group}/v1`);
    refused(await context.post(roles, named('Role', 'r', { rules: [secrets] }), acting(name)), {
      code: 403,
      message: `roles.${group} "r" is forbidden: ${notHeld(name, [
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
      ])}`,
    });
  }),

  behaviour('a user cannot bind a role with rights that they do not have', async (context) => {
    const name = await writer(context);
    const mine = context.unique('binding');
    const body = binding(mine, { kind: 'ClusterRole', name: 'system:node-bootstrapper' }, user('joe'));
    refused(await context.post(clusterRoleBindings, body, acting(name)), {
      code: 403,
      message: `clusterrolebindings.${group} "${mine}" is forbidden: ${notHeld(name, [
        '{APIGroups:["certificates.k8s.io"], Resources:["certificatesigningrequests"], Verbs:["create" "get" "list" "watch"]}',
      ])}`,
    });
    const missing = binding(mine, { kind: 'ClusterRole', name: 'no-such-role' }, user('joe'));
    refused(await context.post(clusterRoleBindings, missing, acting(name)), {
      code: 404,
      message: `clusterrolebindings.${group} "no-such-role" not found`,
    });
    const here = await context.collection('rolebindings', `${group}/v1`);
    refused(await context.post(here, binding('b', { kind: 'Role', name: 'no-such-role' }, user('joe')), acting(name)), {
      code: 404,
      message: `rolebindings.${group} "no-such-role" not found`,
    });
  }),

  behaviour('the verbs escalate and bind allow it', async (context) => {
    const role = context.unique('role');
    const escalating = await writer(context, { verbs: ['escalate'], apiGroups: [group], resources: ['clusterroles'] });
    context.deleteAfterBehaviour(`${clusterRoles}/${role}`);
    const made = await context.post(clusterRoles, named('ClusterRole', role, { rules: [secrets] }), acting(escalating));
    assert.equal(made.code, 201, made.text);
    const only = { verbs: ['bind'], apiGroups: [group], resources: ['clusterroles'], resourceNames: [role] };
    const name = await writer(context, only);
    context.deleteAfterBehaviour(`${clusterRoleBindings}/${role}`);
    const bound = binding(role, { kind: 'ClusterRole', name: role }, user('joe'));
    const answer = await context.post(clusterRoleBindings, bound, acting(name));
    assert.equal(answer.code, 201, answer.text);
    const other = binding(context.unique('b'), { kind: 'ClusterRole', name: 'view' }, user('joe'));
    assert.equal((await context.post(clusterRoleBindings, other, acting(name))).code, 403);
  }),

  behaviour('only a user with all rights can write an aggregated role', async (context) => {
    const name = await writer(context);
    const role = context.unique('role');
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { 'example.com/x': 'y' } }] };
    refused(
      await context.post(clusterRoles, named('ClusterRole', role, { rules: [], aggregationRule }), acting(name)),
      {
        code: 403,
        message: `clusterroles.${group} "${role}" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
      },
    );
  }),
]);
