import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import type { Caller } from '../cluster.ts';
import { refused } from '../expect.ts';
import { acting, grantEverywhere } from '../roles.ts';
import { read } from '../read.ts';
import type { BehaviourContext } from '../behaviour-context.ts';

const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

const whoIs = async (
  context: BehaviourContext,
  headers: Record<string, string>,
  as: Caller = 'admin',
): Promise<unknown> => {
  const answer = await context.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review, { headers, as });
  assert.equal(answer.code, 201, answer.text);
  return read(answer.json, 'status.userInfo');
};

/** A service account without any rights, and a token for it. */
const robot = async (context: BehaviourContext): Promise<{ name: string; token: string; namespace: string }> => {
  const namespace = await context.namespace();
  const accounts = await context.collection('serviceaccounts');
  await context.create(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } });
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const { status } = (await context.create(`${accounts}/robot/token`, request)) as { status?: { token: string } };
  return { name: `system:serviceaccount:${namespace}:robot`, token: status?.token ?? '', namespace };
};

export const impersonation = topic('impersonation', [
  behaviour("an administrator may impersonate a user, and then has that user's rights", async (context) => {
    assert.deepEqual(await whoIs(context, acting('bob', 'g').headers), {
      username: 'bob',
      groups: ['g', 'system:authenticated'],
    });
    assert.deepEqual(await whoIs(context, acting('system:serviceaccount:n:a').headers), {
      username: 'system:serviceaccount:n:a',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:n', 'system:authenticated'],
    });
  }),

  // For each requester the server first tries the mode that worked before, so this uses a new requester.
  behaviour('an impersonated Node is in the group of Nodes, unless groups are given', async (context) => {
    const { token, namespace } = await robot(context);
    const everything = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
    await grantEverywhere(context, everything, { kind: 'ServiceAccount', name: 'robot', namespace });
    await context.eventually('the right to everything', async () => {
      const answer = await context.get('/api/v1/nodes', { as: { token } });
      return answer.code === 200 ? answer : undefined;
    });
    assert.deepEqual(await whoIs(context, acting('system:node:mac-1').headers, { token }), {
      username: 'system:node:mac-1',
      groups: ['system:nodes', 'system:authenticated'],
    });
    assert.deepEqual(await whoIs(context, acting('system:node:mac-1', 'g').headers, { token }), {
      username: 'system:node:mac-1',
      groups: ['g', 'system:authenticated'],
    });
  }),

  behaviour('other users may not impersonate, and the error names the required right', async (context) => {
    const { name, token } = await robot(context);
    const refusals: [string, string][] = [
      ['bob', 'user-info'],
      ['system:serviceaccount:n:a', 'serviceaccount'],
      ['system:node:mac-1', 'arbitrary-node'],
    ];
    for (const [wanted, mode] of refusals) {
      refused(await context.get('/api/v1/pods', { as: { token }, ...acting(wanted) }), {
        code: 403,
        message: `pods is forbidden: User "${name}" cannot impersonate-on:${mode}:list resource "pods" in API group "" at the cluster scope`,
        details: { kind: 'pods' },
      });
    }
    refused(await context.get('/version', { as: { token }, ...acting('bob') }), {
      code: 403,
      message: `forbidden: User "${name}" cannot impersonate-on:user-info:get path "/version"`,
    });
  }),

  behaviour('the right to impersonate users does not include groups', async (context) => {
    const { name, token, namespace } = await robot(context);
    const rules = [{ verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: ['bob'] }];
    await grantEverywhere(context, rules, { kind: 'ServiceAccount', name: 'robot', namespace });
    const as = { token };
    await context.eventually('the right to impersonate', async () => {
      const answer = await context.get('/api', { as, ...acting('bob') });
      return answer.code === 200 ? answer : undefined;
    });
    refused(await context.get('/api/v1/pods', { as, ...acting('bob') }), {
      code: 403,
      message: 'pods is forbidden: User "bob" cannot list resource "pods" in API group "" at the cluster scope',
    });
    refused(await context.get('/api/v1/pods', { as, ...acting('bob', 'g') }), {
      code: 403,
      message: `groups "g" is forbidden: User "${name}" cannot impersonate resource "groups" in API group "" at the cluster scope`,
      details: { name: 'g', kind: 'groups' },
    });
    refused(await context.get('/api/v1/pods', { as, ...acting('joe') }), { code: 403 });
  }),
]);
