import assert from 'node:assert/strict';
import { behaviour, topic } from '../behaviour.ts';
import { includes, refused } from '../expect.ts';
import { pod } from '../objects.ts';
import { readyForPods } from '../pods.ts';
import { read, readKey } from '../read.ts';
import { whoAmI } from '../who-am-i.ts';
import type { BehaviourContext } from '../behaviour-context.ts';

const account = async (context: BehaviourContext, name: string): Promise<{ path: string; uid: string }> => {
  const accounts = await context.collection('serviceaccounts');
  const created = await context.create(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
  return { path: `${accounts}/${name}`, uid: created.metadata.uid };
};

const wish = (spec: Record<string, unknown>): Record<string, unknown> => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  spec,
});

const claimsOf = (token: unknown): unknown =>
  JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString());

export const serviceAccounts = topic('service accounts', [
  behaviour('every namespace has a default ServiceAccount, also after its deletion', async (context) => {
    const path = `${await context.collection('serviceaccounts')}/default`;
    const first = await context.waitFor(path, (object) => object !== undefined);
    await context.remove(path);
    await context.waitFor(path, (object) => object !== undefined && object.metadata.uid !== first?.metadata.uid);
  }),

  behaviour(
    'every namespace has a ConfigMap with the certificate authority, also after somebody changes it',
    async (context) => {
      const path = `${await context.collection('configmaps')}/kube-root-ca.crt`;
      const isRight = (object: unknown): boolean =>
        String(readKey(read(object, 'data'), 'ca.crt')).startsWith('-----BEGIN CERTIFICATE-----');
      await context.waitFor(path, isRight);
      await context.edit(path, { data: { 'ca.crt': 'spoilt' } });
      await context.waitFor(path, isRight);
    },
  ),

  behaviour('a token request returns a token for the API server, with its expiration', async (context) => {
    const { path, uid } = await account(context, 'robot');
    const namespace = await context.namespace();
    const answer = await context.post(`${path}/token`, wish({ expirationSeconds: 600 }));
    assert.equal(answer.code, 201);
    includes(answer.json, {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name: 'robot', namespace },
      spec: { expirationSeconds: 600, audiences: ['https://kubernetes.default.svc'], boundObjectRef: null },
    });
    const claims = claimsOf(read(answer.json, 'status.token'));
    includes(claims, {
      iss: 'https://kubernetes.default.svc',
      sub: `system:serviceaccount:${namespace}:robot`,
      aud: ['https://kubernetes.default.svc'],
      'kubernetes.io': { namespace, serviceaccount: { name: 'robot', uid } },
    });
    assert.equal(Number(read(claims, 'exp')) - Number(read(claims, 'iat')), 600);
    assert.equal(
      Date.parse(String(read(answer.json, 'status.expirationTimestamp'))) / 1000,
      Number(read(claims, 'exp')),
    );
  }),

  behaviour('the token authenticates as its account', async (context) => {
    const { path, uid } = await account(context, 'robot');
    const namespace = await context.namespace();
    const requested = await context.create(`${path}/token`, wish({}));
    const user = await whoAmI(context, { token: String(read(requested, 'status.token')) });
    includes(user, {
      username: `system:serviceaccount:${namespace}:robot`,
      uid,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    });
  }),

  behaviour('the token is invalid after its account is deleted', async (context) => {
    const { path } = await account(context, 'robot');
    const requested = await context.create(`${path}/token`, wish({}));
    const token = String(read(requested, 'status.token'));
    await whoAmI(context, { token });
    await context.remove(path);
    // The real server reads accounts from a cache and caches authentication results for some seconds.
    await context.eventually('the token to be refused', async () => {
      const answer = await context.get('/api', { as: { token } });
      return answer.code === 401 ? answer : undefined;
    });
  }),

  behaviour('a token for another audience is invalid at the API server', async (context) => {
    const { path } = await account(context, 'robot');
    const requested = await context.create(`${path}/token`, wish({ audiences: ['vault'] }));
    refused(await context.get('/api', { as: { token: String(read(requested, 'status.token')) } }), {
      code: 401,
      reason: 'Unauthorized',
    });
  }),

  behaviour('a token bound to a Pod names it', async (context) => {
    const pods = await readyForPods(context);
    const { path } = await account(context, 'robot');
    const owner = await context.create(pods, pod('a', { serviceAccountName: 'robot' }));
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'a', uid: owner.metadata.uid };
    const requested = await context.create(`${path}/token`, wish({ boundObjectRef }));
    const token = read(requested, 'status.token');
    includes(readKey(claimsOf(token), 'kubernetes.io'), {
      pod: { name: 'a', uid: owner.metadata.uid },
    });
    const user = await whoAmI(context, { token: String(token) });
    includes(read(user, 'extra'), {
      'authentication.kubernetes.io/pod-name': ['a'],
      'authentication.kubernetes.io/pod-uid': [owner.metadata.uid],
    });
  }),

  behaviour('a token cannot be bound to a missing Pod, or to a Pod of another account', async (context) => {
    const pods = await readyForPods(context);
    const { path } = await account(context, 'robot');
    refused(
      await context.post(`${path}/token`, wish({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'a' } })),
      {
        code: 404,
        reason: 'NotFound',
        message: 'pods "a" not found',
      },
    );
    await context.create(pods, pod('a'));
    refused(
      await context.post(`${path}/token`, wish({ boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'a' } })),
      {
        code: 400,
        reason: 'BadRequest',
        message: 'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
      },
    );
  }),

  behaviour('a token is valid for at least ten minutes', async (context) => {
    const { path } = await account(context, 'robot');
    refused(await context.post(`${path}/token`, wish({ expirationSeconds: 5 })), {
      code: 422,
      reason: 'Invalid',
      message:
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
    });
  }),

  behaviour('a missing account gets no token', async (context) => {
    refused(await context.post(`${await context.collection('serviceaccounts')}/nobody/token`, wish({})), {
      code: 404,
      reason: 'NotFound',
      message: 'serviceaccounts "nobody" not found',
    });
  }),
]);
