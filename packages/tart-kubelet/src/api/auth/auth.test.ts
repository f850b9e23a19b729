import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, test } from 'node:test';
import {
  createClient,
  createLogger,
  createSubresources,
  inProcessTransport,
  KubeError,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { type ManualClock, manualClock, systemClock } from '@tartan/kube/clock';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { HttpError } from '../http-response.ts';
import type { Route } from '../parse-request.ts';
import { createRequestAuth, userOfCertificate } from './auth.ts';
import { createReviewCache } from './review-cache.ts';
import { createReviews, permissions, type Reviews, type User } from './reviews.ts';

const clockAnd = () => ({
  clock: manualClock(),
  log: createLogger({ clock: systemClock, level: 'error', write: () => {} }),
});
const withToken = (token: string): IncomingMessage =>
  ({ headers: { authorization: `Bearer ${token}` }, socket: {} }) as unknown as IncomingMessage;
const health: Route = { kind: 'health' };
const codeOf = async (admission: Promise<unknown>): Promise<number> => {
  try {
    await admission;
    return 200;
  } catch (error) {
    return error instanceof HttpError ? error.code : 0;
  }
};

describe('authorization of requests', () => {
  const open = (
    reviews: Partial<Reviews>,
  ): { admit(token: string, route?: Route): Promise<number>; asked: string[]; clock: ManualClock } => {
    const { clock, log } = clockAnd();
    const asked: string[] = [];
    const whose =
      reviews.reviewToken ?? (async (token) => (token === 'good' ? { name: 'alice', groups: [] } : undefined));
    const mayDo = reviews.reviewAccess ?? (async () => true);
    const access = createRequestAuth({
      nodeName: 'mac-1',
      clock,
      log,
      reviews: {
        reviewToken: (token) => {
          asked.push(`token ${token}`);
          return whose(token);
        },
        reviewAccess: (user, permission) => {
          asked.push(`${user.name} ${permission.verb} ${permission.subresource}`);
          return mayDo(user, permission);
        },
      },
    });
    return { admit: (token, route = health) => codeOf(access.authorize(withToken(token), route)), asked, clock };
  };

  test('allows a user with a valid token and the permission', async () => {
    const { admit, asked } = open({});
    assert.equal(await admit('good'), 200);
    assert.deepEqual(asked, ['token good', 'alice get healthz']);
  });

  test('rejects anonymous requests', async () => {
    const { admit, asked } = open({});
    assert.equal(await admit('bad'), 401);
    assert.equal(await admit(''), 401);
    assert.equal(await admit('x'.repeat(20_000)), 401);
    assert.deepEqual(asked, ['token bad']);
  });

  test('rejects users without the permission; nodes/proxy is enough', async () => {
    const none = open({ reviewAccess: async () => false });
    assert.equal(await none.admit('good'), 403);
    assert.deepEqual(none.asked.slice(1), ['alice get healthz', 'alice get proxy']);
    const wide = open({ reviewAccess: async (_user, { subresource }) => subresource === 'proxy' });
    assert.equal(await wide.admit('good'), 200);
  });

  test('rejects everybody when the API server does not answer', async () => {
    const fail = async (): Promise<never> => {
      throw new KubeError('unreachable', 'no');
    };
    const noUser = open({ reviewToken: fail });
    assert.equal(await noUser.admit('good'), 503);
    assert.equal(await open({ reviewAccess: fail }).admit('good'), 503);
    await noUser.admit('good');
    assert.equal(noUser.asked.length, 2, 'and it is asked again');
  });

  test('caches decisions until their TTL', async () => {
    let allowed = true;
    const { admit, asked, clock } = open({ reviewAccess: async () => allowed });
    await admit('good');
    await admit('good');
    assert.equal(asked.length, 2);
    allowed = false;
    clock.advance(60_000);
    assert.equal(await admit('good'), 403);
    allowed = true;
    assert.equal(await admit('good'), 403, 'a denial holds too');
    clock.advance(10_000);
    assert.equal(await admit('good'), 200);
  });

  test('limits token reviews in flight', async () => {
    const { admit, asked } = open({ reviewToken: () => new Promise(() => {}) });
    for (let index = 0; index < 32; index += 1) void admit(`t${index}`);
    assert.equal(await admit('one-more'), 503);
    assert.equal(asked.length, 32);
  });

  test('exec needs the verb create for every HTTP method', () => {
    for (const kind of ['exec', 'attach', 'portForward'] as const)
      assert.deepEqual(permissions[kind], [{ verb: 'create', subresource: 'proxy' }]);
    assert.deepEqual(permissions.resourceMetrics, [{ verb: 'get', subresource: 'metrics' }]);
  });
});

describe('the review cache', () => {
  test('evicts the least recently used entry and shares reviews in flight', async () => {
    const asked: string[] = [];
    const cached = createReviewCache<string>(manualClock(), 2, () => 1000);
    const get = (key: string) =>
      cached(key, async () => {
        asked.push(key);
        return key;
      });
    await Promise.all([get('a'), get('a')]);
    await get('b');
    await get('a');
    await get('c');
    await get('a');
    await get('b');
    assert.deepEqual(asked, ['a', 'b', 'c', 'b']);
  });
});

describe('the user of a certificate', () => {
  const valid = { valid_from: 'Jan  1 00:00:00 2026 GMT', valid_to: 'Jan  8 00:00:00 2026 GMT' };
  const now = Date.parse('2026-01-02T00:00:00Z');
  const user = (subject: object, at = now): User | undefined => userOfCertificate({ ...valid, subject }, at);

  test('has the common name as its name and the organizations as its groups', () => {
    assert.deepEqual(user({ CN: 'bob', O: ['a', 'b'] })?.groups, ['a', 'b', 'system:authenticated']);
    assert.deepEqual(user({ CN: 'bob', O: 'a' }), { name: 'bob', groups: ['a', 'system:authenticated'] });
    assert.deepEqual(user({ CN: 'bob' })?.groups, ['system:authenticated']);
  });

  test('is undefined without exactly one common name, or outside of the validity period', () => {
    assert.equal(user({ O: 'a' }), undefined);
    assert.equal(user({ CN: '' }), undefined);
    assert.equal(user({ CN: ['bob', 'root'] }), undefined);
    assert.equal(user({ CN: 'bob' }, Date.parse('2026-01-09T00:00:00Z')), undefined);
    assert.equal(user({ CN: 'bob' }, Date.parse('2025-12-09T00:00:00Z')), undefined);
  });
});

describe('reviews by the Kubernetes API', () => {
  test('return the user of a token and the permissions on this Node', async () => {
    const asked: string[] = [];
    const kubernetes = await createKubernetes({
      authorize: ({ user, verb, resource, subresource, name }) => {
        if (resource !== 'nodes') return { allowed: true, reason: '' };
        asked.push(`${user.name} ${verb} ${resource}/${subresource} ${name}`);
        return { allowed: user.name === 'alice', reason: '' };
      },
    });
    try {
      const user = { commonName: 'system:node:mac-1', organizations: ['system:nodes'] };
      const transport = inProcessTransport(kubernetes.handle, { user });
      const admin = inProcessTransport(kubernetes.handle, {
        user: { commonName: 'admin', organizations: ['system:masters'] },
      });
      const metadata = { name: 'metrics-server', namespace: 'default' };
      await createClient(admin, { clock: systemClock }).create(serviceAccounts, {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata,
      });
      const { token } = await createSubresources(admin, { clock: systemClock }).createToken(metadata, {});
      const reviews = createReviews({ transport, clock: systemClock, nodeName: 'mac-1' });
      const found = await reviews.reviewToken(token);
      assert.equal(found?.name, 'system:serviceaccount:default:metrics-server');
      assert.ok(found?.groups.includes('system:serviceaccounts'));
      assert.equal(await reviews.reviewToken('nobody-knows-this'), undefined);
      const permission = { verb: 'create', subresource: 'proxy' } as const;
      assert.equal(await reviews.reviewAccess({ name: 'alice', groups: [] }, permission), true);
      assert.equal(await reviews.reviewAccess(found ?? { name: '', groups: [] }, permission), false);
      assert.equal(asked[0], 'alice create nodes/proxy mac-1');
    } finally {
      kubernetes.stop();
    }
  });

  test('that fail are errors, not decisions', async () => {
    const answers = [
      { code: 403, body: '{}' },
      { code: 201, body: 'no json' },
      { code: 201, body: '{"status":{}}' },
      { code: 201, body: 'x'.repeat(300_000) },
    ];
    for (const { code, body } of answers) {
      const transport = {
        send: async () => ({ code, headers: {}, body: [Buffer.from(body)] }),
      } as unknown as Transport;
      const reviews = createReviews({ transport, clock: manualClock(), nodeName: 'mac-1' });
      const asked = reviews.reviewAccess({ name: 'alice', groups: [] }, { verb: 'get', subresource: 'proxy' });
      await assert.rejects(asked, KubeError);
    }
    const clock = manualClock();
    const sent = Promise.withResolvers<void>();
    const silent = {
      send: ({ signal }: { signal: AbortSignal }) => {
        sent.resolve();
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        );
      },
    } as unknown as Transport;
    const asked = createReviews({ transport: silent, clock, nodeName: 'mac-1' }).reviewToken('token');
    await sent.promise;
    clock.advance(10_000);
    await assert.rejects(asked, /no answer within 10 s/);
  });
});
