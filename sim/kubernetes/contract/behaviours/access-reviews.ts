import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { refused } from '../expect.ts';
import { acting, grantHere, untilAllowed, user } from '../roles.ts';
import { read, readList } from '../read.ts';
import type { BehaviourContext } from '../behaviour-context.ts';

const group = 'authorization.k8s.io/v1';

const review = async (
  context: BehaviourContext,
  kind: string,
  spec: object,
  as = {},
  namespace = '',
): Promise<unknown> => {
  const scope = namespace === '' ? '' : `/namespaces/${namespace}`;
  const metadata = namespace === '' ? {} : { namespace };
  const path = `/apis/${group}${scope}/${kind.toLowerCase()}s`;
  const answer = await context.post(path, { apiVersion: group, kind, metadata, spec }, as);
  assert.equal(answer.code, 201, answer.text);
  return read(answer.json, 'status');
};

export const accessReviews = topic('access reviews', [
  behaviour('return the decision for a user, and the binding that allows it', async (context) => {
    const jane = context.unique('jane');
    const namespace = await context.namespace();
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
    const name = await grantHere(context, rules, user(jane));
    await untilAllowed(context, `${await context.collection('pods')}/none`, acting(jane));
    const resourceAttributes = { verb: 'get', resource: 'pods', namespace };
    const reason = `RBAC: allowed by RoleBinding "${name}/${namespace}" of Role "${name}" to User "${jane}"`;
    const spec = { user: jane, resourceAttributes };
    assert.deepEqual(await review(context, 'SubjectAccessReview', spec), { allowed: true, reason });
    assert.deepEqual(await review(context, 'LocalSubjectAccessReview', spec, {}, namespace), { allowed: true, reason });
    for (const other of [{ verb: 'list' }, { namespace: 'default' }, { namespace: '' }, { subresource: 'log' }]) {
      const asked = { user: jane, resourceAttributes: { ...resourceAttributes, ...other } };
      assert.deepEqual(await review(context, 'SubjectAccessReview', asked), { allowed: false }, JSON.stringify(other));
    }
    assert.deepEqual(await review(context, 'SelfSubjectAccessReview', { resourceAttributes }, acting(jane)), {
      allowed: true,
      reason,
    });
  }),

  behaviour('accept paths and groups', async (context) => {
    const asked = { groups: ['system:authenticated'], nonResourceAttributes: { path: '/api', verb: 'get' } };
    assert.deepEqual(await review(context, 'SubjectAccessReview', asked), {
      allowed: true,
      reason:
        'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"',
    });
    const masters = { groups: ['system:masters'], nonResourceAttributes: { path: '/none', verb: 'get' } };
    assert.deepEqual(await review(context, 'SubjectAccessReview', masters), { allowed: true });
  }),

  behaviour('everybody may review their own access, only some that of others', async (context) => {
    const jane = context.unique('jane');
    const resourceAttributes = { verb: 'get', resource: 'pods' };
    const own = await review(context, 'SelfSubjectAccessReview', { resourceAttributes }, acting(jane));
    assert.deepEqual(own, { allowed: false });
    const body = { apiVersion: group, kind: 'SubjectAccessReview', spec: { user: 'joe', resourceAttributes } };
    refused(await context.post(`/apis/${group}/subjectaccessreviews`, body, acting(jane)), {
      code: 403,
      message: `subjectaccessreviews.authorization.k8s.io is forbidden: User "${jane}" cannot create resource "subjectaccessreviews" in API group "authorization.k8s.io" at the cluster scope`,
    });
  }),

  behaviour('list the rules of a user in a namespace', async (context) => {
    const jane = context.unique('jane');
    const namespace = await context.namespace();
    const rules = [
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'pods/log'] },
      { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['a'] },
    ];
    await grantHere(context, rules, user(jane));
    await untilAllowed(context, await context.collection('pods'), acting(jane));
    const status = await review(context, 'SelfSubjectRulesReview', { namespace }, acting(jane));
    assert.equal(read(status, 'incomplete'), false);
    assert.equal(read(status, 'evaluationError'), undefined);
    const listed = readList(status, 'resourceRules').map((rule) => JSON.stringify(rule));
    for (const rule of rules) assert.ok(listed.includes(JSON.stringify(rule)), listed.join('\n'));
    assert.ok(listed.some((rule) => rule.includes('selfsubjectaccessreviews')));
    const elsewhere = await review(context, 'SelfSubjectRulesReview', { namespace: 'default' }, acting(jane));
    assert.ok(!JSON.stringify(elsewhere).includes('secrets'));
    const paths = readList(status, 'nonResourceRules').flatMap((rule) => readList(rule, 'nonResourceURLs'));
    assert.ok(paths.includes('/openapi/*'));
  }),

  behaviour('return incomplete rules for a Node, and say so', async (context) => {
    const status = await review(
      context,
      'SelfSubjectRulesReview',
      { namespace: 'default' },
      acting('system:node:a', 'system:nodes'),
    );
    assert.equal(read(status, 'incomplete'), true);
    assert.equal(read(status, 'evaluationError'), 'node authorizer does not support user rule resolution');
  }),
]);
