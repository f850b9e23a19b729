import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSecret } from '@tartan/kube';
import type { CallReport } from './http/exchange.ts';
import { createHarness, labels, organization, pkcs8, repository } from './testing/harness.ts';

describe('runners of GitHub', () => {
  for (const owner of [organization, repository]) {
    test(`are created, found, listed and removed: ${owner.kind}`, async () => {
      const { github, service } = createHarness();
      const runners = service({ owner });
      const made = await runners.mint({ name: 'pool-runner-1', labels, group: undefined });
      assert.ok(made.kind === 'minted');
      const shown = {
        id: made.id,
        name: 'pool-runner-1',
        isOnline: false,
        isBusy: false,
      };
      assert.deepEqual(await runners.get(made.id), { kind: 'found', runner: shown });
      assert.deepEqual(await runners.find('pool-runner-1'), { kind: 'found', runner: shown });
      assert.deepEqual(await runners.find('pool-runner'), { kind: 'none' });
      assert.deepEqual(await runners.list(), { kind: 'listed', runners: [shown] });
      assert.deepEqual(await runners.remove(made.id), { kind: 'removed' });
      assert.deepEqual(await runners.remove(made.id), { kind: 'none' });
      assert.deepEqual(await runners.get(made.id), { kind: 'none' });
      assert.deepEqual(github.runners(), []);
    });
  }

  test('connect with their JIT configuration', async () => {
    const { github, mintRunner, startRunner, service, end } = createHarness();
    const { id, jitConfig } = await mintRunner('one');
    await startRunner(jitConfig).online;
    const got = await service().get(id);
    assert.ok(got.kind === 'found' && got.runner.isOnline);
    assert.equal(github.runners()[0]?.isEphemeral, true);
    await end();
  });

  test('have a unique name from the first configuration on, also when the response was lost', async () => {
    const { github, service } = createHarness();
    github.faults.calls.push({ match: /generate-jitconfig/, times: 1, with: 'lost' });
    const wanted = { name: 'one', labels, group: undefined };
    const lost = await service().mint(wanted);
    assert.ok(lost.kind === 'problem' && lost.reason === 'Unavailable');
    assert.match(lost.message, /may have been done all the same/);
    assert.deepEqual(await service().mint(wanted), { kind: 'name taken' });
    const found = await service().find('one');
    assert.ok(found.kind === 'found');
    assert.deepEqual(await service().remove(found.runner.id), { kind: 'removed' });
    assert.equal((await service().mint(wanted)).kind, 'minted');
  });

  test('find ignores runners with another name', async () => {
    const { github, service } = createHarness();
    // A server that does not know the parameter.
    const other = { id: 1, name: 'two', status: 'online', busy: false, labels: [] };
    github.faults.calls.push({
      match: /GET/,
      times: 1,
      with: { status: 200, body: { total_count: 1, runners: [other] } },
    });
    assert.deepEqual(await service().find('one'), { kind: 'none' });
  });

  test('cannot be removed while they run a job', async () => {
    const { github, mintRunner, startRunner, service, end } = createHarness();
    const { id, jitConfig } = await mintRunner('one');
    const runner = startRunner(jitConfig);
    await runner.online;
    github.queueJob({ repository: 'acme/app', labels });
    await runner.busy;
    const got = await service().get(id);
    assert.ok(got.kind === 'found' && got.runner.isBusy);
    assert.deepEqual(await service().remove(id), { kind: 'busy' });
    await end();
  });

  test('a refused removal overrides a stale busy flag', async () => {
    const { github, mintRunner, startRunner, service, end } = createHarness();
    github.faults.staleBusyFor = 30_000;
    const { id, jitConfig } = await mintRunner('one');
    const runner = startRunner(jitConfig);
    await runner.online;
    github.queueJob({ repository: 'acme/app', labels });
    await runner.busy;
    const got = await service().get(id);
    assert.ok(got.kind === 'found' && !got.runner.isBusy);
    assert.deepEqual(await service().remove(id), { kind: 'busy' });
    github.faults.deleteWhileStale = 'accepted';
    assert.deepEqual(await service().remove(id), { kind: 'removed' });
    await end();
  });

  test('are listed over all pages, and an unchanged list costs no quota', async () => {
    const { github, mintRunner, service } = createHarness();
    for (let at = 0; at < 230; at += 1) await mintRunner(`runner-${at}`);
    const before = github.requests.length;
    const all = await service().list();
    assert.ok(all.kind === 'listed');
    assert.equal(new Set(all.runners.map(({ name }) => name)).size, 230);
    assert.equal(github.requests.length - before, 3);
    const reported = stageReports(service);
    await reported.service.list();
    assert.deepEqual(reported.statuses, [304, 304, 304]);
    await mintRunner('runner-new');
    const again = await service().list();
    assert.ok(again.kind === 'listed' && again.runners.length === 231);
  });

  test('work with an App key in either format', async () => {
    const { app, service } = createHarness();
    const asPKCS8 = { ...app, privateKey: createSecret(pkcs8) };
    assert.equal((await service({ app: asPKCS8 }).list()).kind, 'listed');
  });

  test('a registration token for permanent runners is issued', async () => {
    const { service } = createHarness();
    const got = await service().registrationToken();
    assert.ok(got.kind === 'known');
    assert.match(got.token.reveal(), /^\w{29}$/);
  });

  for (const [why, registration, expected] of [
    ['a name that is too long', { name: 'x'.repeat(65), labels, group: undefined }, /longer than 64/],
    ['no name', { name: ' ', labels, group: undefined }, /has a name/],
    ['no labels', { name: 'one', labels: [], group: undefined }, /has 0 labels/],
    ['an empty label', { name: 'one', labels: [''], group: undefined }, /is empty/],
  ] as const) {
    test(`an invalid registration is rejected without a request: ${why}`, async () => {
      const { github, service } = createHarness();
      const made = await service().mint(registration);
      assert.ok(made.kind === 'problem' && made.reason === 'Denied');
      assert.match(made.message, expected);
      assert.deepEqual(github.requests, []);
    });
  }

  test('every request is reported, with its route and the remaining quota', async () => {
    const { reports, mintRunner, clock, github, service } = createHarness({ rateLimit: 1000 });
    const { id } = await mintRunner('one');
    github.faults.outage.api = 'refused';
    await service().get(id);
    assert.deepEqual(
      reports.map(({ method, route, status, remaining }) => ({ method, route, status, remaining })),
      [
        {
          method: 'POST',
          route: '/app/installations/{installation_id}/access_tokens',
          status: 201,
          remaining: undefined,
        },
        { method: 'POST', route: '/orgs/{org}/actions/runners/generate-jitconfig', status: 201, remaining: 999 },
        { method: 'GET', route: '/orgs/{org}/actions/runners/{runner_id}', status: undefined, remaining: undefined },
      ],
    );
    assert.equal(clock.monotonic(), 0);
  });
});

/** A service that records the status of each answer. */
const stageReports = (
  service: ReturnType<typeof createHarness>['service'],
): { service: ReturnType<typeof service>; statuses: CallReport['status'][] } => {
  const statuses: CallReport['status'][] = [];
  return { statuses, service: service({ onCall: ({ status }) => statuses.push(status) }) };
};
