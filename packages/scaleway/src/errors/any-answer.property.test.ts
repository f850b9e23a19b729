import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import type { HostPool } from '../host-pool.ts';
import { projectID, secretKey, serverID, testPool, wireServer, zone } from '../testing/test-pool.ts';
import { ScalewayError } from './scaleway-error.ts';

const calls: ((pool: HostPool) => Promise<unknown>)[] = [
  (pool) => pool.listServers(zone),
  (pool) => pool.getServer(zone, serverID),
  (pool) => pool.rename(zone, serverID, 'x'),
  (pool) => pool.reinstall(zone, serverID, 'os'),
  (pool) => pool.reboot(zone, serverID),
  (pool) => pool.listImages(zone, 'M2-L'),
  (pool) => pool.listKeys(),
  (pool) => pool.createKey('fleet', 'ssh-ed25519 AAAA'),
  (pool) => pool.deleteKey('key-1'),
];

const secrets = ['sudo-s3cret', 'vnc-s3cret', secretKey];
const quoting = `we got ${secretKey}, sudo-s3cret and vnc-s3cret`;

/** Right answers, with one field or several replaced by anything. */
const nearly = fc
  .tuple(
    fc.constantFrom<Record<string, unknown>>(
      wireServer(),
      { servers: [wireServer()], total_count: 1 },
      { os: [{ id: 'a', name: 'b', family: 'c', version: '1', is_beta: true }], total_count: 1 },
      { ssh_keys: [{ id: 'a', name: 'b', public_key: 'c', project_id: projectID }], total_count: 1 },
      { ...wireServer(), type: 'transient_state', message: quoting, current_state: quoting },
      {
        ...wireServer(),
        type: 'permissions_denied',
        message: quoting,
        details: [{ action: quoting, resource: quoting }],
      },
      { type: 'too_many_requests', help_message: quoting, reset_seconds: 1e300, server: wireServer() },
    ),
    fc.dictionary(
      fc.constantFrom('id', 'name', 'os', 'servers', 'ssh_keys', 'total_count', 'created_at', 'type', 'details', 'ip'),
      fc.jsonValue(),
      { maxKeys: 2 },
    ),
  )
  .map(([right, wrong]) => JSON.stringify({ ...right, ...wrong }));

const body = fc.oneof(
  { arbitrary: nearly, weight: 4 },
  fc.json(),
  fc.string(),
  fc.constantFrom('', '<html><body>Bad gateway', `{"sudo_password": "sudo-s3cret`, '{"__proto__": {"id": 1}}'),
);
const status = fc.oneof(
  { arbitrary: fc.constantFrom(200, 201, 202, 204, 400, 401, 403, 404, 409, 429, 500, 503), weight: 4 },
  fc.integer({ min: 200, max: 599 }),
);
const headers = fc.record(
  {
    'retry-after': fc.constantFrom('1', '-1', 'x', '99999999999999999999', 'Thu, 01 Jan 2026 00:00:05 GMT'),
    'content-type': fc.constantFrom('application/json', 'text/html', 'application/json; charset=utf-8', 'x'),
    'x-total-count': fc.constantFrom('1', 'NaN', '-1'),
  },
  { requiredKeys: [] },
);
const answer = fc.record({ body, status, headers });

test('any response yields a value or a ScalewayError without secrets', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...calls),
      fc.array(answer, { minLength: 1, maxLength: 4 }),
      async (call, answers) => {
        let asked = 0;
        const fetch = (): Promise<Response> => {
          const { body, status, headers } = answers[Math.min(asked++, answers.length - 1)] ?? { body: '' };
          const without = [204, 205, 304].includes(status ?? 200);
          return Promise.resolve(
            new Response(without ? null : body, { status: status ?? 200, headers: headers ?? {} }),
          );
        };
        try {
          await call(testPool('http://127.0.0.1:1', { fetch }));
        } catch (error) {
          assert(error instanceof ScalewayError, inspect(error));
          for (const shown of [JSON.stringify(error), inspect(error, { depth: 10, showHidden: true }), error.message]) {
            for (const secret of secrets) assert(!shown.includes(secret), `${secret} in ${shown}`);
          }
        }
        assert(asked <= 4 * 200);
      },
    ),
    { numRuns: 500 },
  );
});

test('an error of fetch is reported by its code only', async () => {
  const quoted = Object.assign(new Error(quoting), { code: 'HPE_INVALID_CONSTANT', data: quoting });
  const failures: [thrown: unknown, code: RegExp][] = [
    [new TypeError('fetch failed', { cause: quoted }), /HPE_INVALID_CONSTANT/],
    [
      new TypeError('fetch failed', {
        cause: new AggregateError([Object.assign(new Error(quoting), { code: 'ECONNREFUSED' })]),
      }),
      /ECONNREFUSED/,
    ],
    [Object.assign(new Error('x'), { code: quoting }), /connection failed/],
    [quoting, /connection failed/],
    [undefined, /connection failed/],
    [null, /connection failed/],
  ];
  for (const [thrown, code] of failures) {
    const pool = testPool('http://127.0.0.1:1', { fetch: () => Promise.reject(thrown) });
    await assert.rejects(pool.getServer(zone, serverID), (error) => {
      assert(error instanceof ScalewayError);
      assert.equal(error.kind, 'no answer');
      assert.match(error.message, code);
      for (const secret of secrets) assert(!inspect(error, { depth: 10, showHidden: true }).includes(secret));
      return true;
    });
  }
});

test('a password seen once is redacted from later errors', async () => {
  const answers = [
    Response.json(wireServer({ sudo_password: '', vnc_url: 'vnc://m1:hunter%20two@198.18.0.1:5900' })),
    Response.json({ message: 'cannot log in with hunter two or hunter%20two' }, { status: 400 }),
  ];
  const fetch = (): Promise<Response> => Promise.resolve(answers.shift() ?? Response.error());
  const pool = testPool('http://127.0.0.1:1', { fetch });
  await pool.getServer(zone, serverID);
  await assert.rejects(pool.getServer(zone, serverID), (error) => {
    assert(error instanceof ScalewayError);
    assert.doesNotMatch(inspect(error), /hunter.{1,3}two/);
    assert.match(error.message, /cannot log in with/);
    return true;
  });
});
