import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSecret } from '@tartan/kube';
import { manualClock, systemClock } from '@tartan/kube/clock';
import { startGitHub } from '@tartan/sim-github';
import { createRunnerService } from '../create-runner-service.ts';
import type { Problem } from '../runner-service.ts';
import { createHarness, labels, organization, pkcs1 } from '../testing/harness.ts';

const reasonOf = (answer: { readonly kind: string } | Problem): string =>
  'reason' in answer ? answer.reason : answer.kind;

describe('when GitHub fails', () => {
  for (const outage of ['refused', 500, 502, 503] as const) {
    test(`an outage (${outage}) is reported by every call, and ends`, async () => {
      const { github, mintRunner, service } = createHarness();
      const { id } = await mintRunner('one');
      github.faults.outage.api = outage;
      const runners = service();
      const answers = await Promise.all([
        runners.mint({ name: 'two', labels, group: undefined }),
        runners.get(id),
        runners.find('one'),
        runners.list(),
        runners.remove(id),
        runners.registrationToken(),
        runners.queue(labels),
      ]);
      assert.deepEqual(answers.map(reasonOf), Array(7).fill('Unavailable'));
      github.faults.outage.api = undefined;
      assert.equal((await runners.get(id)).kind, 'found');
      assert.deepEqual(
        github.runners().map(({ name }) => name),
        ['one'],
      );
    });
  }

  test('an outage during a token request is not cached', async () => {
    const { github, service } = createHarness();
    github.faults.outage.api = 'refused';
    assert.equal(reasonOf(await service().list()), 'Unavailable');
    github.faults.outage.api = undefined;
    assert.equal((await service().list()).kind, 'listed');
  });

  test('a removal with a lost response is reported as unknown, and took effect', async () => {
    const { github, mintRunner, service } = createHarness();
    const { id } = await mintRunner('one');
    github.faults.calls.push({ match: /DELETE/, times: 1, with: 'lost' });
    assert.equal(reasonOf(await service().remove(id)), 'Unavailable');
    assert.deepEqual(await service().remove(id), { kind: 'none' });
  });

  test('a call that hangs ends at its deadline', async () => {
    const { github, clock, mintRunner, nextRequest, service } = createHarness();
    const { id } = await mintRunner('one');
    github.faults.calls.push({ match: /GET/, times: 1, with: 'hang' });
    const sent = nextRequest();
    const got = service().get(id);
    await sent;
    clock.advance(15_000);
    const answer = await got;
    assert.equal(reasonOf(answer), 'Unavailable');
    assert.match('message' in answer ? answer.message : '', /nothing came within 15 s/);
  });

  test('a token request that hangs ends at its deadline, for all callers', async () => {
    const { github, clock, nextRequest, service } = createHarness();
    github.faults.calls.push({ match: /access_tokens/, times: 1, with: 'hang' });
    const sent = nextRequest();
    const calls = [service().get(1), service().get(1)];
    await sent;
    clock.advance(15_000);
    assert.deepEqual((await Promise.all(calls)).map(reasonOf), ['Unavailable', 'Unavailable']);
    assert.equal((await service().list()).kind, 'listed');
  });

  test('an aborted call rejects at once with the reason of its signal', async () => {
    const { github, reports, mintRunner, nextRequest, service } = createHarness();
    const { id } = await mintRunner('one');
    github.faults.calls.push({ match: /GET/, times: 1, with: 'hang' });
    const left = new AbortController();
    const sent = nextRequest();
    const got = service().get(id, { signal: left.signal });
    await sent;
    left.abort(new Error('enough'));
    await assert.rejects(got, /enough/);
    assert.equal(reports.at(-1)?.status, undefined);
    const before = github.requests.length;
    await assert.rejects(service().get(id, { signal: left.signal }), /enough/);
    assert.equal(github.requests.length, before);
  });

  test('a call whose signal has fired already requests no token', async () => {
    const { github, service } = createHarness();
    github.faults.outage.api = 'refused';
    await assert.rejects(service().list({ signal: AbortSignal.abort(new Error('enough')) }), /enough/);
    assert.deepEqual(github.requests, []);
  });

  for (const [what, fault, reason] of [
    ['a page of somebody else', { status: 200, body: '<html>hotel network' }, 'Unavailable'],
    ['half of an answer', { status: 200, body: '{"id": 1, "name": "one"' }, 'Unavailable'],
    ['an answer without what matters', { status: 200, body: { id: 1, name: 'one', labels: [] } }, 'Unavailable'],
    [
      'busy as a word',
      { status: 200, body: { id: 1, name: 'x', status: 'online', busy: 'no', labels: [] } },
      'Unavailable',
    ],
    ['an empty answer', { status: 200 }, 'Unavailable'],
    ['another name', { status: 301, headers: { location: 'https://api.github.invalid/x' } }, 'Denied'],
    ['a strange refusal', { status: 418, body: { message: 'teapot' } }, 'Denied'],
  ] as const) {
    test(`is rejected: ${what}`, async () => {
      const { github, mintRunner, service } = createHarness();
      const { id } = await mintRunner('one');
      github.faults.calls.push({ match: /GET/, times: 1, with: fault });
      assert.equal(reasonOf(await service().get(id)), reason);
    });
  }
});

test('an endless response is cut at the size limit', async () => {
  const { service, github } = createHarness();
  let sent = 0;
  const endless = (): Response =>
    new Response(
      new ReadableStream({
        pull: (controller) => {
          sent += 1;
          controller.enqueue(new Uint8Array(1024 * 1024));
        },
      }),
    );
  const send: typeof fetch = async (input, init) => {
    const isToken = new Request(input, init).url.includes('access_tokens');
    return isToken ? github.fetch(input, init) : endless();
  };
  const listed = await service({ fetch: send }).list();
  assert.ok(listed.kind === 'problem' && listed.reason === 'Unavailable');
  assert.match(listed.message, /too long/);
  assert.ok(sent < 30);
});

describe('over sockets', () => {
  test('behaves the same with the fetch of Node', async (context) => {
    const github = await startGitHub({ app: { privateKey: pkcs1 } });
    context.after(() => github.stop());
    const app = { appID: github.app.clientID, installationID: '7001', privateKey: createSecret(pkcs1) };
    const runners = createRunnerService({ app, owner: organization, clock: systemClock, apiURL: `${github.url}/` });
    const made = await runners.mint({ name: 'one', labels, group: undefined });
    assert.ok(made.kind === 'minted');
    assert.equal((await runners.list()).kind, 'listed');
    assert.equal((await runners.list()).kind, 'listed');
    const location = `${github.url}/orgs/acme/actions/runners/${made.id}`;
    github.faults.calls.push({ match: /GET/, times: 1, with: { status: 302, headers: { location } } });
    assert.equal(reasonOf(await runners.get(made.id)), 'Denied');
    github.queueJob({ repository: 'acme/app', labels });
    const queue = await runners.queue(labels);
    assert.ok(queue.kind === 'known' && queue.queue.jobs === 1);
    github.faults.calls.push({ match: /DELETE/, times: 1, with: 'lost' });
    assert.equal(reasonOf(await runners.remove(made.id)), 'Unavailable');
    assert.deepEqual(await runners.remove(made.id), { kind: 'none' });
    await github.stop();
    assert.equal(reasonOf(await runners.list()), 'Unavailable');
  });

  test('connection refused', async () => {
    const app = { appID: '1', installationID: '1', privateKey: createSecret(pkcs1) };
    for (const [apiURL, expected] of [
      ['http://127.0.0.1:1', /: (?:ECONNREFUSED|the connection failed)\./],
      ['nonsense', /: (?:ERR_INVALID_URL|the connection failed)\./],
    ] as const) {
      const runners = createRunnerService({ app, owner: organization, clock: manualClock(), apiURL });
      const listed = await runners.list();
      assert.ok(listed.kind === 'problem' && listed.reason === 'Unavailable');
      assert.match(listed.message, expected);
    }
  });
});
