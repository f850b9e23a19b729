import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecret } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { type CallReport, exchange, type RequestParameters } from './exchange.ts';
import { createRateLimiter } from './rate-limit.ts';

const constantHeaders = {
  accept: 'application/vnd.github+json',
  authorization: 'Bearer ghs_1',
  'user-agent': 'tartan',
  'x-github-api-version': '2022-11-28',
};
const json = { 'content-type': 'application/json; charset=utf-8' };

for (const [route, parameters, url, body] of [
  ['GET /installation/repositories', {}, '/installation/repositories', ''],
  [
    'GET /orgs/{org}/actions/runners',
    { org: 'acme', name: 'a&b=ü', per_page: 100, page: 2 },
    '/orgs/acme/actions/runners?name=a%26b%3D%C3%BC&per_page=100&page=2',
    '',
  ],
  [
    'DELETE /repos/{owner}/{repo}/x/{runner_id}',
    { owner: 'a', repo: 'b/c?', runner_id: 7 },
    '/repos/a/b%2Fc%3F/x/7',
    '',
  ],
  ['POST /orgs/{org}/x', { org: 'acme' }, '/orgs/acme/x', ''],
  [
    'POST /orgs/{org}/x',
    { org: 'acme', name: 'n', labels: ['m'], id: 1 },
    '/orgs/acme/x',
    '{"name":"n","labels":["m"],"id":1}',
  ],
] satisfies [string, RequestParameters, string, string][]) {
  test(`${route} with ${JSON.stringify(parameters)} is one request`, async () => {
    const sent: Request[] = [];
    const send: typeof fetch = async (input, init) => {
      sent.push(new Request(input, init));
      return Response.json({ ok: true });
    };
    const clock = manualClock();
    const connection = { fetch: send, clock, apiURL: 'https://github.invalid/api/v3', deadline: 1000 };
    const options = { ...connection, rateLimiter: createRateLimiter(clock), onCall: () => {} };
    const request = { parameters, token: createSecret('ghs_1'), etag: '"tag"', signal: undefined };
    const operation = { route, permission: '', purpose: 'required' } as const;
    const response = await exchange(operation, 'answer', request, options);
    assert.deepEqual(response.body, { ok: true });
    const [got, ...more] = sent;
    assert.ok(got !== undefined && more.length === 0);
    assert.equal(`${got.method} ${got.url}`, `${route.split(' ')[0]} https://github.invalid/api/v3${url}`);
    const headers = { ...constantHeaders, 'if-none-match': '"tag"', ...(body === '' ? {} : json) };
    assert.deepEqual(Object.fromEntries(got.headers), headers);
    assert.equal(await got.text(), body);
    assert.equal(got.redirect, 'manual');
  });
}

test('a request that a rate limit blocks is reported as blocked, and not sent', async () => {
  const reports: CallReport[] = [];
  let sent = 0;
  const send: typeof fetch = async () => {
    sent += 1;
    return Response.json({}, { status: 429, headers: { 'retry-after': '60' } });
  };
  const clock = manualClock();
  const options = {
    fetch: send,
    clock,
    apiURL: 'https://github.invalid',
    deadline: 1000,
    rateLimiter: createRateLimiter(clock),
    onCall: (report: CallReport) => reports.push(report),
  };
  const request = { parameters: {}, token: createSecret('ghs_1'), etag: undefined, signal: undefined };
  const operation = { route: 'GET /x', permission: '', purpose: 'required' } as const;
  for (let call = 0; call < 2; call += 1) await assert.rejects(exchange(operation, 'answer', request, options));
  assert.equal(sent, 1);
  assert.deepEqual(
    reports,
    [429, 'blocked' as const].map((status) => ({ method: 'GET', route: '/x', status, remaining: undefined })),
  );
});
