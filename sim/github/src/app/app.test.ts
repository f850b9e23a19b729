import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, test } from 'node:test';
import { createHarness, createJwt } from '../testing/harness.ts';

const tokens = 'POST /app/installations/7001/access_tokens';
const runners = 'GET /orgs/acme/actions/runners';

describe('authentication of an App with a JWT', () => {
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });
  /** `at`: seconds from now. */
  const cases: [name: string, iat: unknown, exp: unknown, iss: unknown, status: number, message: RegExp][] = [
    ['a minute back, nine ahead', -60, 540, 'client', 200, /^$/],
    ['ten minutes ahead exactly', -60, 600, 'client', 200, /^$/],
    ['the number of the App as text', -60, 540, '4711', 200, /^$/],
    ['the number of the App', -60, 540, 4711, 200, /^$/],
    ['a second more than ten minutes ahead', -60, 601, 'client', 401, /'exp'\) is too far in the future/],
    ['a clock that is a second fast', 1, 540, 'client', 401, /'Issued at' claim/],
    ['over', -600, 0, 'client', 401, /'exp'\) must be a numeric value/],
    ['without an end', -60, undefined, 'client', 401, /'exp'\)/],
    ['another App', -60, 540, 12, 401, /Integration not found/],
  ];
  for (const [name, iat, exp, iss, status, message] of cases) {
    test(`${name}: ${status}`, async () => {
      const { ask, github, clock } = await createHarness();
      const now = clock.now() / 1000;
      const moment = (at: unknown): unknown => (typeof at === 'number' ? now + at : at);
      const claims = { iat: moment(iat), exp: moment(exp), iss: iss === 'client' ? github.app.clientID : iss };
      const answer = await ask('GET /app', undefined, createJwt(claims));
      assert.equal(answer.status, status);
      assert.match((answer.body['message'] as string | undefined) ?? '', message);
    });
  }

  test('accepts its key and RS256 only', async () => {
    const { ask, github, clock, jwt } = await createHarness();
    const now = clock.now() / 1000;
    const claims = { iss: github.app.id, iat: now - 60, exp: now + 60 };
    assert.equal((await ask('GET /app', undefined, jwt())).status, 200);
    for (const wrong of [
      createJwt(claims, stranger),
      createJwt(claims, undefined, { alg: 'none' }),
      `${createJwt(claims)}.x`,
      'nonsense',
    ]) {
      const answer = await ask('GET /app', undefined, wrong);
      assert.deepEqual([answer.status, answer.body['message']], [401, 'A JSON web token could not be decoded']);
    }
    assert.equal((await ask('GET /app', undefined, '')).status, 401);
    assert.equal((await ask('GET /app', undefined, await (await createHarness()).newToken())).status, 401);
  });

  test('finds its installations', async () => {
    const { ask, jwt } = await createHarness();
    for (const path of ['/orgs/ACME/installation', '/repos/acme/App/installation']) {
      assert.equal((await ask(`GET ${path}`, undefined, jwt())).body['id'], 7001);
    }
    assert.equal((await ask('GET /orgs/other/installation', undefined, jwt())).status, 404);
    const all = (await ask('GET /app/installations', undefined, jwt())).body as unknown as { id: number }[];
    assert.deepEqual(
      all.map(({ id }) => id),
      [7001],
    );
  });
});

describe('an installation token', () => {
  test('expires after an hour, and contains its expiry', async () => {
    const { ask, clock, jwt } = await createHarness();
    const made = await ask(tokens, undefined, jwt());
    assert.equal(made.status, 201);
    assert.equal(Date.parse(made.body['expires_at'] as string), clock.now() + 3_600_000);
    const token = made.body['token'] as string;
    assert.ok(token.startsWith('ghs_4711_') && token.length > 40);
    clock.advance(3_599_999);
    assert.equal((await ask(runners, undefined, token)).status, 200);
    clock.advance(1);
    const late = await ask(runners, undefined, token);
    assert.deepEqual([late.status, late.body['message']], [401, 'Bad credentials']);
  });

  test('may have fewer permissions than the installation, never more', async () => {
    const { ask, jwt, newToken } = await createHarness();
    const weak = await newToken({ organization_self_hosted_runners: 'read' });
    assert.equal((await ask(runners, undefined, weak)).status, 200);
    const refused = await ask('POST /orgs/acme/actions/runners/registration-token', {}, weak);
    assert.deepEqual([refused.status, refused.body['message']], [403, 'Resource not accessible by integration']);
    assert.equal((await ask(tokens, { permissions: { actions: 'write' } }, jwt())).status, 422);
    assert.equal((await ask(tokens, '[', jwt())).status, 400);
  });

  test('does not see repositories outside the installation', async () => {
    const { ask } = await createHarness();
    for (const path of ['/orgs/other/actions/runners', '/repos/acme/secret/actions/runners', '/elsewhere']) {
      assert.equal((await ask(`GET ${path}`)).status, 404);
    }
    assert.equal((await ask('GET /repos/Acme/APP/actions/runners')).status, 200);
    assert.equal((await ask(runners, undefined, '')).body['message'], 'Requires authentication');
  });

  test('lists its repositories, with the time of the last push', async () => {
    const { ask, github, clock } = await createHarness({
      installations: [{ id: 7001, account: 'acme', repositories: ['app', 'site'], permissions: { actions: 'read' } }],
    });
    github.queueJob({ repository: 'acme/site', labels: ['macos'] });
    const { status, body } = await ask('GET /installation/repositories');
    const repositories = body['repositories'] as { full_name: string; pushed_at: string }[];
    assert.deepEqual([status, body['total_count']], [200, 2]);
    assert.deepEqual(
      repositories.map(({ full_name: name, pushed_at: at }) => [name, Date.parse(at)]),
      [
        ['acme/app', 0],
        ['acme/site', clock.now()],
      ],
    );
    assert.equal((await ask('GET /installation/repositories', undefined, '')).status, 401);
    assert.equal((await ask('GET /installation/repositories', undefined, 'ghs_x')).status, 401);
  });

  test('is refused for an installation that is unknown or suspended', async () => {
    const permissions = { actions: 'read' } as const;
    const { ask, jwt, github } = await createHarness({
      installations: [{ id: 7001, account: 'acme', repositories: [], permissions, suspended: true }],
    });
    assert.equal((await ask(tokens, {}, jwt())).status, 403);
    assert.equal((await ask('POST /app/installations/1/access_tokens', {}, jwt())).status, 404);
    assert.deepEqual(github.history, []);
  });
});
