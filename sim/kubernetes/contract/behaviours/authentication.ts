import assert from 'node:assert/strict';
import { systemClock, timestamp } from '@tartan/kube/clock';
import { behaviour, topic } from '../behaviour.ts';
import { bootstrapToken } from '../bootstrap-tokens.ts';
import { includes, refused } from '../expect.ts';
import { read } from '../read.ts';
import type { Trial } from '../trial.ts';
import { whoAmI } from '../who-am-i.ts';

/** The real server reads Secrets from a cache, which lags a little. */
const recognised = (trial: Trial, token: string): Promise<unknown> =>
  trial.eventually('the token to be known', async () => {
    const answer = await trial.get('/api', { as: { token } });
    return answer.code === 401 ? undefined : answer;
  });

const stranger = async (trial: Trial, token: string): Promise<void> =>
  refused(await trial.get('/api/v1/nodes', { as: { token } }), {
    code: 401,
    reason: 'Unauthorized',
    message: 'Unauthorized',
  });

export const authentication = topic('authentication', [
  behaviour('a client certificate has its common name as user and its organizations as groups', async (trial) => {
    includes(await whoAmI(trial, 'admin'), {
      username: 'kubernetes-admin',
      groups: ['system:masters', 'system:authenticated'],
    });
  }),

  behaviour('an unknown bearer token is Unauthorized', async (trial) => {
    await stranger(trial, 'nonsense');
    await stranger(trial, 'abcdef.0123456789abcdef');
    await stranger(trial, 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06YWRtaW4ifQ.');
  }),

  behaviour('a bootstrap token has its own user, and the groups that it names', async (trial) => {
    const { id, token } = await bootstrapToken(trial, { 'auth-extra-groups': 'system:bootstrappers:contract' });
    await recognised(trial, token);
    assert.deepEqual(await whoAmI(trial, { token }), {
      username: `system:bootstrap:${id}`,
      groups: ['system:bootstrappers', 'system:bootstrappers:contract', 'system:authenticated'],
    });
  }),

  behaviour('a bootstrap token with another secret is Unauthorized', async (trial) => {
    const { id, token } = await bootstrapToken(trial);
    await recognised(trial, token);
    await stranger(trial, `${id}.0000000000000000`);
  }),

  behaviour('an expired bootstrap token, or one that is not for authentication, is Unauthorized', async (trial) => {
    const known = await bootstrapToken(trial);
    const expired = await bootstrapToken(trial, { expiration: '2020-01-01T00:00:00Z' });
    const unusable = await bootstrapToken(trial, { 'usage-bootstrap-authentication': null });
    const garbled = await bootstrapToken(trial, { expiration: 'soon' });
    const last = await bootstrapToken(trial, { expiration: timestamp(systemClock.now() + 3_600_000) });
    await recognised(trial, known.token);
    await recognised(trial, last.token);
    for (const { token } of [expired, unusable, garbled]) await stranger(trial, token);
  }),

  behaviour('a bootstrap token is invalid after its Secret is deleted', async (trial) => {
    const { token, path } = await bootstrapToken(trial);
    await recognised(trial, token);
    await trial.remove(path);
    await trial.eventually('the token to be refused', async () => {
      const answer = await trial.get('/api', { as: { token } });
      return answer.code === 401 ? answer : undefined;
    });
  }),

  behaviour('a TokenReview returns the user of a token, or an error for a bad one', async (trial) => {
    const { id, token } = await bootstrapToken(trial);
    await recognised(trial, token);
    const review = async (text: string): Promise<unknown> => {
      const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: text } };
      return read(await trial.create('/apis/authentication.k8s.io/v1/tokenreviews', body), 'status');
    };
    includes(await review(token), { authenticated: true, user: { username: `system:bootstrap:${id}` } });
    const bad = await review('nonsense');
    assert.equal(read(bad, 'authenticated'), undefined);
    assert.match(String(read(bad, 'error')), /invalid bearer token/);
  }),

  behaviour('an administrator may do everything according to an access review', async (trial) => {
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'delete', resource: 'nodes' } },
    };
    const review = await trial.create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body);
    includes(review, { kind: 'SelfSubjectAccessReview', status: { allowed: true } });
  }),
]);
