import assert from 'node:assert/strict';
import { systemClock, timestamp } from '@tartan/kube/clock';
import { behaviour, topic } from '../behaviour.ts';
import { bootstrapToken } from '../bootstrap-tokens.ts';
import { includes, refused } from '../expect.ts';
import { read } from '../read.ts';
import type { BehaviourContext } from '../behaviour-context.ts';
import { whoAmI } from '../who-am-i.ts';

/** The real server reads Secrets from a cache, which lags a little. */
const recognised = (context: BehaviourContext, token: string): Promise<unknown> =>
  context.eventually('the token to be known', async () => {
    const answer = await context.get('/api', { as: { token } });
    return answer.code === 401 ? undefined : answer;
  });

const stranger = async (context: BehaviourContext, token: string): Promise<void> =>
  refused(await context.get('/api/v1/nodes', { as: { token } }), {
    code: 401,
    reason: 'Unauthorized',
    message: 'Unauthorized',
  });

export const authentication = topic('authentication', [
  behaviour('a client certificate has its common name as user and its organizations as groups', async (context) => {
    includes(await whoAmI(context, 'admin'), {
      username: 'kubernetes-admin',
      groups: ['system:masters', 'system:authenticated'],
    });
  }),

  behaviour('an unknown bearer token is Unauthorized', async (context) => {
    await stranger(context, 'nonsense');
    await stranger(context, 'abcdef.0123456789abcdef');
    await stranger(context, 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06YWRtaW4ifQ.');
  }),

  behaviour('a bootstrap token has its own user, and the groups that it names', async (context) => {
    const { id, token } = await bootstrapToken(context, { 'auth-extra-groups': 'system:bootstrappers:contract' });
    await recognised(context, token);
    assert.deepEqual(await whoAmI(context, { token }), {
      username: `system:bootstrap:${id}`,
      groups: ['system:bootstrappers', 'system:bootstrappers:contract', 'system:authenticated'],
    });
  }),

  behaviour('a bootstrap token with another secret is Unauthorized', async (context) => {
    const { id, token } = await bootstrapToken(context);
    await recognised(context, token);
    await stranger(context, `${id}.0000000000000000`);
  }),

  behaviour('an expired bootstrap token, or one that is not for authentication, is Unauthorized', async (context) => {
    const known = await bootstrapToken(context);
    const expired = await bootstrapToken(context, { expiration: '2020-01-01T00:00:00Z' });
    const unusable = await bootstrapToken(context, { 'usage-bootstrap-authentication': null });
    const garbled = await bootstrapToken(context, { expiration: 'soon' });
    const last = await bootstrapToken(context, { expiration: timestamp(systemClock.now() + 3_600_000) });
    await recognised(context, known.token);
    await recognised(context, last.token);
    for (const { token } of [expired, unusable, garbled]) await stranger(context, token);
  }),

  behaviour('a bootstrap token is invalid after its Secret is deleted', async (context) => {
    const { token, path } = await bootstrapToken(context);
    await recognised(context, token);
    await context.remove(path);
    await context.eventually('the token to be refused', async () => {
      const answer = await context.get('/api', { as: { token } });
      return answer.code === 401 ? answer : undefined;
    });
  }),

  behaviour('a TokenReview returns the user of a token, or an error for a bad one', async (context) => {
    const { id, token } = await bootstrapToken(context);
    await recognised(context, token);
    const review = async (text: string): Promise<unknown> => {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: text } };
      return read(await context.create('/apis/authentication.k8s.io/v1/tokenreviews', body), 'status');
    };
    includes(await review(token), { authenticated: true, user: { username: `system:bootstrap:${id}` } });
    const bad = await review('nonsense');
    assert.equal(read(bad, 'authenticated'), undefined);
    assert.match(String(read(bad, 'error')), /invalid bearer token/);
  }),

  behaviour('an administrator may do everything according to an access review', async (context) => {
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'delete', resource: 'nodes' } },
    };
    const review = await context.create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body);
    includes(review, { kind: 'SelfSubjectAccessReview', status: { allowed: true } });
  }),
]);
