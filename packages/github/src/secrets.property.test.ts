import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { createSecret } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import fc from 'fast-check';
import { createRunnerService } from './create-runner-service.ts';
import type { RunnerService } from './runner-service.ts';
import { labels, organization, pkcs1 } from './testing/harness.ts';

const token = 'ghs_4711_eyJsecretsecretsecret';
const jit = 'aml0LWNvbmZpZ3VyYXRpb24tdGhhdC1pcy1zZWNyZXQ=';
const registration = 'AAREGISTRATIONTOKENSECRET';
const secrets = [token, jit, registration, pkcs1.slice(100, 140), 'PRIVATE KEY'];

const calls: readonly ((service: RunnerService) => Promise<unknown>)[] = [
  (service) => service.mint({ name: 'one', labels, group: undefined }),
  (service) => service.mint({ name: 'one', labels, group: 'Release' }),
  (service) => service.get(1),
  (service) => service.find('one'),
  (service) => service.list(),
  (service) => service.remove(1),
  (service) => service.registrationToken(),
  (service) => service.queue(labels),
];

const quoting = `we got ${token} and Bearer ${token} and ${pkcs1}`;
const runner = { id: 1, name: 'one', status: 'online', busy: false, labels: [{ name: 'macos' }] };

/** Right answers, with fields replaced by anything. */
const nearly = fc
  .tuple(
    fc.constantFrom<Record<string, unknown>>(
      { runner, encoded_jit_config: jit },
      { runner: { id: 'x' }, encoded_jit_config: jit },
      { token: registration, expires_at: '2026-01-01T01:00:00Z' },
      { token: registration, expires_at: 'never' },
      { total_count: 1, runners: [runner], repositories: [], workflow_runs: [], jobs: [], runner_groups: [] },
      { message: quoting },
    ),
    fc.dictionary(
      fc.constantFrom('id', 'runner', 'runners', 'total_count', 'token', 'message', 'labels'),
      fc.jsonValue(),
      {
        maxKeys: 2,
      },
    ),
  )
  .map(([right, wrong]) => JSON.stringify({ ...right, ...wrong }));

const answer = fc.record({
  status: fc.oneof(
    fc.constantFrom(200, 201, 204, 301, 304, 400, 401, 403, 404, 409, 422, 429, 500, 503),
    fc.integer({ min: 200, max: 599 }),
  ),
  body: fc.oneof({ arbitrary: nearly, weight: 4 }, fc.json(), fc.string(), fc.constant(quoting)),
  headers: fc.dictionary(
    fc.constantFrom('retry-after', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'content-type', 'etag', 'deprecation'),
    fc.constantFrom('0', '1', '60', '99999999999', '-1', 'x', 'text/html; charset="', '"tag"'),
  ),
});

test('any response yields a result without exception or secret', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...calls),
      fc.array(answer, { minLength: 1, maxLength: 4 }),
      async (call, answers) => {
        const written: unknown[] = [];
        let asked = 0;
        const service = createRunnerService({
          app: { appID: '1', installationID: '7', privateKey: createSecret(pkcs1) },
          owner: organization,
          clock: manualClock(),
          onCall: (report) => written.push(report),
          fetch: async (input) => {
            const url = input instanceof Request ? input.url : input.toString();
            if (url.includes('access_tokens')) {
              return Response.json({ token, expires_at: '2026-01-01T01:00:00Z' }, { status: 201 });
            }
            const { status, body, headers } = answers[asked % answers.length] ?? { status: 500, body: '', headers: {} };
            asked += 1;
            assert.ok(asked < 300, 'it asks without end');
            return new Response([204, 205, 304].includes(status) ? null : body, { status, headers });
          },
        });
        const got = await call(service);
        const shown = [
          inspect(got, { depth: 9, showHidden: true }),
          JSON.stringify(got),
          inspect(written, { depth: 9 }),
        ];
        for (const secret of secrets) assert.ok(!shown.join('\n').includes(secret), shown.join('\n'));
      },
    ),
    { numRuns: 500 },
  );
});
