import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createHarness } from '../testing/harness.ts';

const runners = '/orgs/acme/actions/runners';
const make = `POST ${runners}/generate-jitconfig`;
const wanted = { name: 'a', runner_group_id: 1, labels: ['macOS', 'Xcode-26'] };
const day = 24 * 3_600_000;

describe('a just-in-time runner', () => {
  test('exists, offline, as soon as its configuration is created', async () => {
    const { ask } = await createHarness();
    const made = await ask(make, wanted);
    assert.equal(made.status, 201);
    assert.equal(typeof made.body['encoded_jit_config'], 'string');
    const { labels, ...runner } = made.body['runner'] as { id: number; labels: object[] };
    assert.deepEqual(runner, {
      id: runner.id,
      name: 'a',
      os: 'unknown',
      status: 'offline',
      busy: false,
      ephemeral: true,
      runner_group_id: 1,
    });
    // There are no default labels, and all are in lower case.
    assert.deepEqual(
      labels.map((label) => (label as { name: string }).name),
      ['macos', 'xcode-26'],
    );
    assert.deepEqual((await ask(`GET ${runners}/${runner.id}`)).body, { ...runner, labels });
  });

  test('has a unique name in its account or repository', async () => {
    const { ask } = await createHarness();
    assert.equal((await ask(make, wanted)).status, 201);
    const again = await ask(make, wanted);
    assert.deepEqual(
      [again.status, again.body['message']],
      [409, 'Already exists - A runner with the name a already exists.'],
    );
    assert.equal((await ask('POST /repos/acme/app/actions/runners/generate-jitconfig', wanted)).status, 201);
  });

  const wrong: [name: string, body: unknown, status: number, message: RegExp][] = [
    ['no labels', { ...wanted, labels: [] }, 422, /between 1 and 100/],
    [
      'too many labels',
      { ...wanted, labels: Array.from({ length: 101 }, (_, i) => `l${i}`) },
      422,
      /between 1 and 100/,
    ],
    ['a label that is no text', { ...wanted, labels: [1] }, 422, /no text/],
    ['an empty label', { ...wanted, labels: [' '] }, 422, /no text/],
    ['labels that are no list', { ...wanted, labels: 'macos' }, 422, /not an array/],
    ['labels left out', { name: 'a', runner_group_id: 1 }, 422, /missing required key: labels/],
    ['the group left out', { name: 'a', labels: ['a'] }, 422, /missing required key: runner_group_id/],
    ['a group that is no number', { ...wanted, runner_group_id: '1' }, 422, /not an integer/],
    ['a group that is not there', { ...wanted, runner_group_id: 99 }, 404, /Not Found/],
    ['a long name', { ...wanted, name: 'n'.repeat(65) }, 422, /longer than 64/],
    ['a folder that is none', { ...wanted, work_folder: 1 }, 422, /not a folder/],
    ['no JSON', '{', 400, /Problems parsing/],
  ];
  for (const [name, body, status, message] of wrong) {
    test(`with ${name}: ${status}`, async () => {
      const { ask, github } = await createHarness();
      const answer = await ask(make, body);
      assert.equal(answer.status, status);
      assert.match(answer.body['message'] as string, message);
      assert.deepEqual(github.runners(), []);
    });
  }

  test('that is never started is deleted after a day, and its name is free', async () => {
    const { ask, jit, clock, github, newToken } = await createHarness();
    await jit('a');
    clock.advance(day - 1);
    assert.equal(github.runners().length, 1);
    clock.advance(1);
    assert.deepEqual(github.runners(), []);
    assert.equal((await ask(make, wanted, await newToken())).status, 201);
    assert.equal(github.history.find(({ type }) => type === 'runner removed')?.reason, 'not connected for long');
  });

  test('that disconnects is deleted a day later', async () => {
    const { jit, connect, ask, clock, github } = await createHarness();
    const session = await connect((await jit('a')).config);
    clock.advance(30_000);
    assert.equal((await ask(`DELETE /_actions/sessions/${session}`, {}, '')).status, 204);
    assert.deepEqual([github.runners()[0]?.isOnline], [false]);
    clock.advance(day - 1);
    assert.equal(github.runners().length, 1);
    clock.advance(1);
    assert.equal(github.runners().length, 0);
  });
});

describe('runners', () => {
  test('are listed in pages, with links and the total count', async () => {
    const { ask, jit } = await createHarness();
    for (let i = 1; i <= 35; i += 1) await jit(`r${i}`);
    const list = async (query: string) => {
      const { body, headers } = await ask(`GET ${runners}${query}`);
      const names = (body['runners'] as { name: string }[]).map(({ name }) => name);
      return { names, total: body['total_count'], link: headers.get('link') };
    };
    const first = await list('');
    assert.deepEqual([first.names.length, first.total], [30, 35]);
    const base = `https://api.github.invalid${runners}`;
    assert.equal(first.link, `<${base}?page=2>; rel="next", <${base}?page=2>; rel="last"`);
    const third = await list('?per_page=10&page=3');
    assert.deepEqual([third.names[0], third.names.length], ['r21', 10]);
    for (const rel of ['prev', 'next', 'last', 'first']) assert.match(third.link ?? '', new RegExp(`rel="${rel}"`));
    assert.deepEqual((await list('?per_page=1000')).names.length, 35);
    assert.equal((await list('?per_page=100')).link, null);
    assert.deepEqual((await list('?page=9')).names, []);
    assert.deepEqual((await list('?name=r3')).names, ['r3']);
  });

  test('are deleted once: 204, then 404', async () => {
    const { ask, jit, connect, poll } = await createHarness();
    const { id, config } = await jit('a');
    const session = await connect(config);
    const waiting = poll(session);
    assert.equal((await ask(`DELETE ${runners}/${id}`)).status, 204);
    assert.equal((await waiting).status, 401);
    assert.equal((await poll(session)).status, 401);
    assert.equal((await ask(`DELETE ${runners}/${id}`)).status, 404);
    assert.equal((await ask(`GET ${runners}/${id}`)).status, 404);
    assert.equal((await ask('POST /_actions/sessions', { jit_config: config }, '')).status, 401);
  });

  test('have groups', async () => {
    const { ask } = await createHarness({ runnerGroups: [{ id: 5, name: 'macs', repositories: ['app'] }] });
    const { body } = await ask('GET /orgs/acme/actions/runner-groups');
    assert.deepEqual(
      (body['runner_groups'] as Record<string, unknown>[]).map((group) => [
        group['id'],
        group['name'],
        group['visibility'],
        group['default'],
      ]),
      [
        [1, 'Default', 'all', true],
        [5, 'macs', 'selected', false],
      ],
    );
    assert.equal((await ask(make, { ...wanted, runner_group_id: 5 })).status, 201);
    const ofRepository = 'POST /repos/acme/app/actions/runners/generate-jitconfig';
    assert.equal((await ask(ofRepository, { ...wanted, runner_group_id: 5 })).status, 404);
  });
});

describe('a registered runner of a host', () => {
  const config = { name: 'builder-1', labels: ['bare-metal'] };
  const register = async (ask: Awaited<ReturnType<typeof createHarness>>['ask'], more: object = {}) => {
    const { body } = await ask(`POST ${runners}/registration-token`);
    return ask('POST /_actions/runners', { token: body['token'], ...config, ...more }, '');
  };

  test('registers with a token of an hour, and stays after its jobs', async () => {
    const { ask, clock, github, poll, report, newToken } = await createHarness();
    const { body } = await ask(`POST ${runners}/registration-token`);
    assert.equal(Date.parse(body['expires_at'] as string), clock.now() + 3_600_000);
    const made = await register(ask);
    assert.equal(made.status, 201);
    assert.deepEqual(github.runners()[0]?.labels, ['self-hosted', 'macOS', 'ARM64', 'bare-metal']);
    clock.advance(3_600_000);
    assert.equal((await ask('POST /_actions/runners', { token: body['token'], name: 'b' }, '')).status, 404);

    const connected = await ask('POST /_actions/sessions', { credential: made.body['credential'] }, '');
    const session = connected.body['session'] as string;
    const waiting = poll(session);
    const job = github.queueJob({ repository: 'acme/app', labels: ['Self-Hosted', 'bare-metal'] });
    assert.equal((await waiting).status, 200);
    assert.equal(await report(session, job.id, 'started'), 204);
    assert.equal(await report(session, job.id, 'finished'), 204);
    const { body: list } = await ask(`GET ${runners}`, undefined, await newToken());
    assert.deepEqual(
      (list['runners'] as Record<string, unknown>[]).map((each) => [each['status'], each['busy'], each['os']]),
      [['online', false, 'macOS']],
    );
  });

  test('has only its own labels, if requested', async () => {
    const { ask, github } = await createHarness();
    assert.equal((await register(ask, { no_default_labels: true })).status, 201);
    assert.deepEqual(github.runners()[0]?.labels, ['bare-metal']);
  });

  test('keeps its name unless it is replaced', async () => {
    const { ask, github } = await createHarness();
    const first = await register(ask);
    assert.equal((await register(ask)).status, 409);
    const second = await register(ask, { replace: true });
    assert.notEqual(first.body['id'], second.body['id']);
    assert.equal(github.runners().length, 1);
    assert.equal((await register(ask, { name: 'b', group: 'none such' })).status, 404);
    assert.equal((await register(ask, { name: '' })).status, 422);
  });

  test('is removed with a removal token', async () => {
    const { ask, github, poll, report } = await createHarness();
    const { body: made } = await register(ask);
    const { body: wrong } = await ask(`POST ${runners}/registration-token`);
    const remove = `DELETE /_actions/runners/${String(made['id'])}`;
    assert.equal((await ask(remove, { token: wrong['token'] }, '')).status, 404);
    const { body: right } = await ask(`POST ${runners}/remove-token`);

    const { body: connected } = await ask('POST /_actions/sessions', { credential: made['credential'] }, '');
    const session = connected['session'] as string;
    const job = github.queueJob({ repository: 'acme/app', labels: ['bare-metal'] });
    await poll(session);
    await report(session, job.id, 'started');
    assert.equal((await ask(remove, { token: right['token'] }, '')).status, 422);
    await report(session, job.id, 'finished');
    assert.equal((await ask(remove, { token: right['token'] }, '')).status, 204);
    assert.deepEqual(github.runners(), []);
  });

  test('is deleted after fourteen days without a connection', async () => {
    const { ask, clock, github } = await createHarness();
    await register(ask);
    clock.advance(14 * day - 1);
    assert.equal(github.runners().length, 1);
    clock.advance(1);
    assert.equal(github.runners().length, 0);
  });
});
