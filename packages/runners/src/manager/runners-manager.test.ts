import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runnerMetricNames, runnersLeaderElectionID } from '@tartan/api';
import { leases } from '@tartan/kube';
import { createManagerHarness, namespace, optionsWith } from './testing/harness.ts';

const lastingFor = { timeout: 60_000 };

describe('one runners controller', lastingFor, () => {
  test('starts, leads, and makes a warm runner that GitHub knows; stops with the lease given back', async (t) => {
    const stage = await createManagerHarness(t);
    await stage.addSecret();
    await stage.addPool(1);
    const started = stage.start('a');
    assert.ok(!started.leads());
    const warm = await stage.eventually('a warm runner', async () =>
      (await stage.pool())?.status?.warm ? true : undefined,
    );
    assert.ok(warm && started.leads());
    assert.deepEqual(
      stage.github.runners().map(({ name, isOnline }) => [name, isOnline]),
      (await stage.pods()).map(({ metadata }) => [metadata.name, true]),
    );
    assert.deepEqual(await started.ask('/readyz'), { code: 200, body: 'ok' });
    assert.equal((await started.ask('/healthz')).code, 200);
    const lease = () => stage.client.get(leases, { namespace, name: runnersLeaderElectionID });
    assert.equal((await lease()).spec?.holderIdentity, 'a');
    assert.deepEqual(await started.stop(), { ok: true });
    assert.equal((await lease()).spec?.holderIdentity ?? '', '');
    assert.ok(!started.leads());
    assert.equal((await stage.pods()).length, 1, 'runners outlive the controller');
    assert.deepEqual(stage.refused, []);
  });

  test('serves every metric', async (t) => {
    const stage = await createManagerHarness(t);
    await stage.addSecret();
    await stage.addPool(1);
    const started = stage.start('a');
    await stage.eventually('a warm runner', async () => ((await stage.pool())?.status?.warm ? true : undefined));
    const { body } = await started.ask('/metrics');
    for (const name of Object.values(runnerMetricNames)) assert.match(body, new RegExp(`^# TYPE ${name} `, 'm'), name);
    const told = new Set(body.match(/^tuist_\w+/gm)?.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')));
    const known = new Set<string>(Object.values(runnerMetricNames));
    assert.deepEqual(
      [...told].filter((name) => !known.has(name)),
      [],
    );
    assert.match(body, /^tuist_runners_pool_pods\{namespace="ci",pool="macos",state="warm"\} 1$/m);
    assert.match(body, /^tuist_runners_github_requests_total\{method="POST",route="[^"]*jitconfig",code="201"\} 1$/m);
    assert.match(body, /^tuist_runners_github_rate_limit_remaining\{app="github-app"\} \d+$/m);
    assert.match(body, /^leader_election_master_status\{name="runners-controller\.tuist\.dev"\} 1$/m);
    assert.match(body, /^rest_client_requests_total\{code="200",method="GET",host="in-process"\} \d+$/m);
  });

  test('shows no secret in its log, at any level', async (t) => {
    const stage = await createManagerHarness(t);
    const { data } = await stage.addSecret();
    await stage.addPool(2);
    const started = stage.start('a');
    await stage.eventually('two warm runners', async () =>
      (await stage.pool())?.status?.warm === 2 ? true : undefined,
    );
    const log = started.lines.join('\n');
    const held = (await stage.secrets()).flatMap((secret) => Object.values(secret.data ?? {}));
    assert.equal(held.length, 2);
    const hidden = [...Object.values(data ?? {}), ...held].filter((text) => text.length > 40);
    for (const text of hidden.flatMap((each) => [each, Buffer.from(each, 'base64').toString()]))
      assert.ok(!log.includes(text) && !log.includes(text.split('\n')[1] ?? text));
  });

  test('runs without a lease when leader election is off', async (t) => {
    const stage = await createManagerHarness(t);
    const started = stage.start('a', { options: optionsWith('--leader-elect=false') });
    await stage.pass(1);
    assert.ok(started.leads());
    assert.deepEqual((await stage.client.list(leases, { namespace })).items, []);
    assert.deepEqual(await started.stop(), { ok: true });
  });

  test('reports why it cannot listen on its port', async (t) => {
    const stage = await createManagerHarness(t);
    const first = stage.start('a');
    const { port } = (await first.manager.addresses.probes) ?? { port: 0 };
    const second = stage.start('b', { options: optionsWith(`--health-probe-bind-address=127.0.0.1:${port}`) });
    await stage.pass(3);
    const result = await second.ended;
    assert.ok(!result.ok && /cannot listen on 127\.0\.0\.1/.test(result.reason), JSON.stringify(result));
  });
});

describe('two runners controllers', lastingFor, () => {
  test('one leads and exposes pool metrics; after a failover no runner is created twice', async (t) => {
    const stage = await createManagerHarness(t);
    await stage.addSecret();
    await stage.addPool(2);
    const first = stage.start('a');
    await stage.pass(3);
    const second = stage.start('b');
    await stage.eventually('two warm runners', async () =>
      (await stage.pool())?.status?.warm === 2 ? true : undefined,
    );
    assert.deepEqual([first.leads(), second.leads()], [true, false]);
    assert.equal((await second.ask('/readyz')).code, 200, 'whoever stands by is ready');
    const series = new RegExp(`^${runnerMetricNames.wantedReplicas}\\{`, 'm');
    assert.match((await first.ask('/metrics')).body, series);
    assert.doesNotMatch((await second.ask('/metrics')).body, series);
    assert.deepEqual(await first.stop(), { ok: true });
    await stage.pass(20);
    assert.ok(second.leads());
    assert.match((await second.ask('/metrics')).body, series);
    assert.equal((await stage.pods()).length, 2);
    assert.equal(stage.github.runners().length, 2);
  });
});

describe('with only the RBAC rules of its table', lastingFor, () => {
  test('a pool is created, rolled and deleted without a forbidden request', async (t) => {
    const stage = await createManagerHarness(t, { macs: 2 });
    await stage.addSecret();
    await stage.addPool(2);
    stage.start('a');
    const status = async () => (await stage.pool())?.status;
    const warm = (count: number) => async () => ((await status())?.warm === count ? true : undefined);
    await stage.eventually('two warm runners', warm(2));

    stage.queueJob();
    await stage.eventually('a runner that had its job is reaped', async () =>
      (await status())?.reaped ? true : undefined,
    );
    await stage.eventually('another in its place', warm(2));
    const before = new Set((await stage.pods()).map(({ metadata }) => metadata.uid));

    await stage.setSpec({ image: 'macos:2' });
    await stage.eventually('all with the new image', async () =>
      (await status())?.observedImage === 'macos:2' ? true : undefined,
    );
    await stage.eventually('and warm', warm(2));
    for (const { metadata } of await stage.pods()) assert.ok(!before.has(metadata.uid));

    const [first, second] = stage.macs;
    assert.ok(first && second);
    await stage.cordon(first);
    await stage.eventually('nobody on the Mac that drains', async () =>
      (await stage.pods()).every(({ spec }) => spec?.nodeName !== first.name) ? true : undefined,
    );
    await stage.cordon(first, false);
    await stage.eventually('two warm runners again', warm(2));

    await stage.removeMac(second);
    await stage.eventually('nobody on the Mac that is gone', async () =>
      (await stage.pods()).every(({ spec }) => spec?.nodeName !== second.name) ? true : undefined,
    );

    await stage.setSpec({ replicas: 1 });
    await stage.eventually('one is enough', async () => ((await stage.pods()).length === 1 ? true : undefined));
    await stage.deletePool();
    await stage.eventually('the pool is gone', async () => ((await stage.pool()) === undefined ? true : undefined));
    await stage.eventually('and its Pods', async () => ((await stage.pods()).length === 0 ? true : undefined));
    assert.deepEqual(stage.refused, []);
    assert.deepEqual(stage.killed, []);
    assert.deepEqual(stage.github.lostJobs(), []);
  });
});
