import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemClock } from '@tartan/kube/clock';
import { runFakeRunner } from './actions/fake-runner.ts';
import type { SimulatedGitHub } from './github.ts';
import { startGitHub } from './start-github.ts';
import { createJwt, privateKeyPEM } from './testing/harness.ts';

describe('GitHub over HTTP', () => {
  let github: SimulatedGitHub;
  let token: string;
  const call = async (target: string, body?: object, bearer = token): Promise<Response> => {
    const [method = 'GET', path = '/'] = target.split(' ');
    return fetch(`${github.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  };
  beforeEach(async () => {
    github = await startGitHub({ app: { privateKey: privateKeyPEM } });
    const now = Math.floor(systemClock.now() / 1000);
    const jwt = createJwt({ iss: github.app.id, iat: now - 60, exp: now + 300 });
    const made = await call('POST /app/installations/7001/access_tokens', {}, jwt);
    token = ((await made.json()) as { token: string }).token;
  });
  afterEach(() => github.stop());
  const jit = async (name: string): Promise<string> => {
    const made = await call('POST /orgs/acme/actions/runners/generate-jitconfig', {
      name,
      runner_group_id: 1,
      labels: ['macos'],
    });
    return ((await made.json()) as { encoded_jit_config: string }).encoded_jit_config;
  };

  test('a job runs from end to end', async () => {
    const queued = github.queueJob({ repository: 'acme/app', labels: ['macos'] });
    const ended = await runFakeRunner({
      url: github.url,
      as: { jit_config: await jit('a') },
      work: async () => 'success',
      signal: new AbortController().signal,
    });
    assert.deepEqual([ended, queued.conclusion, github.runners()], ['job done', 'success', []]);
    assert.match(
      github.requests.join(),
      /POST \/orgs\/acme\/actions\/runners\/generate-jitconfig,POST \/_actions\/sess/,
    );
  });

  test('links have its own address', async () => {
    for (const name of ['a', 'b']) await jit(name);
    const link = (await call('GET /orgs/acme/actions/runners?per_page=1')).headers.get('link') ?? '';
    const next = /<([^>]+)>; rel="next"/.exec(link)?.[1] ?? '';
    assert.ok(next.startsWith(github.url));
    const second = await fetch(next, { headers: { authorization: `token ${token}` } });
    assert.deepEqual(((await second.json()) as { runners: { name: string }[] }).runners[0]?.name, 'b');
  });

  test('connections are cut on request, and 204 and 304 have no body', async () => {
    github.faults.outage.api = 'refused';
    await assert.rejects(call('GET /rate_limit'), TypeError);
    github.faults.outage.api = 503;
    assert.match(await (await call('GET /rate_limit')).text(), /Unicorn/);
    github.faults.outage.api = undefined;
    await jit('a');
    const id = github.runners()[0]?.id;
    const removed = await call(`DELETE /orgs/acme/actions/runners/${id}`);
    assert.deepEqual([removed.status, await removed.text()], [204, '']);
  });

  test('a client that disconnects during a poll gets no job, and open polls do not delay stop', async () => {
    const connected = await call('POST /_actions/sessions', { jit_config: await jit('a') }, 'none');
    const { session } = (await connected.json()) as { session: string };
    const left = new AbortController();
    const path = `${github.url}/_actions/sessions/${session}/poll`;
    const first = fetch(path, { method: 'POST', signal: left.signal }).catch(() => 'left');
    while (!github.requests.some((each) => each.endsWith('/poll'))) await new Promise((r) => setImmediate(r));
    left.abort();
    assert.equal(await first, 'left');
    const open = fetch(path, { method: 'POST' }).catch(() => 'cut');
    while (github.requests.filter((each) => each.endsWith('/poll')).length < 2) {
      await new Promise((r) => setImmediate(r));
    }
    await github.stop();
    assert.equal(await open, 'cut');
  });
});
