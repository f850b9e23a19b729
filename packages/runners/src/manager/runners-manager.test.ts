import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test, type TestContext } from 'node:test';
import { labels, labelValues, runnerMetricNames, runnersLeaderElectionID } from '@tartan/api';
import {
  createLogger,
  createRedactor,
  grantPolicyRules,
  inProcessTransport,
  leases,
  type ManagerResult,
  nodes,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { settle } from '@tartan/kube/testing';
import { parseFlags, type RunnersOptions } from '../flags.ts';
import { createHarness as createPoolHarness, namespace } from '../pool/testing/harness.ts';
import { runnersRBACRules } from '../rbac.ts';
import { createRunnersManager, type RunnersManagerDeps } from './runners-manager.ts';

const optionsWith = (...argv: readonly string[]): RunnersOptions => {
  const parsed = parseFlags(
    [
      '--metrics-bind-address=127.0.0.1:0',
      '--health-probe-bind-address=127.0.0.1:0',
      `--namespace=${namespace}`,
      '--github-api-url=https://github.invalid',
      ...argv,
    ],
    {},
  );
  if (!('options' in parsed)) throw new Error(JSON.stringify(parsed));
  return parsed.options;
};

const account = { namespace, name: 'runners-controller' };

/** The transport, and its forbidden requests: `GET /api/v1/secrets`. */
const recordRefusals = (inner: Transport): { transport: Transport; refused: string[] } => {
  const refused: string[] = [];
  return {
    refused,
    transport: {
      ...inner,
      send: async (request) => {
        const answer = await inner.send(request);
        if (answer.code === 403) refused.push(`${request.method} ${request.path}`);
        return answer;
      },
    },
  };
};

/** Kubernetes, GitHub and Macs on virtual time, and managers with exactly the permissions of their RBAC table. */
const createManagerHarness = async (t: TestContext, options: Parameters<typeof createPoolHarness>[0] = {}) => {
  const harness = await createPoolHarness(options);
  const { clock, client, github, macs } = harness;
  for (const { name } of macs)
    await client.patch(
      nodes,
      { name },
      { type: 'merge', body: { metadata: { labels: { [labels.runtime]: labelValues.runtime } } } },
    );
  await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  const rights = runnersRBACRules({ namespace, leaderElection: { namespace } });
  await grantPolicyRules(client.create, account.name, { account }, rights);
  const user = { commonName: `system:serviceaccount:${namespace}:${account.name}`, organizations: [] };
  const { transport, refused } = recordRefusals(inProcessTransport(harness.kubernetes.handle, { user }));
  const stops: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    await Promise.all(stops.map((stop) => stop()));
    await harness.end();
  });

  /** A manager that runs until it is stopped, or the test ends. */
  const start = (identity: string, change: Partial<RunnersManagerDeps> = {}) => {
    const lines: string[] = [];
    const log = createLogger({ write: (line) => lines.push(line), clock, level: 'debug', redact: createRedactor() });
    const manager = createRunnersManager({
      options: optionsWith(),
      transport,
      apiHost: 'in-process',
      fetch: github.fetch,
      clock,
      random: () => 0.5,
      randomBytes,
      log,
      identity,
      ...change,
    });
    const stopping = new AbortController();
    const ended: Promise<ManagerResult> = manager.run(stopping.signal);
    const stop = async (): Promise<ManagerResult> => {
      stopping.abort();
      const over = new AbortController();
      void ended.then(() => over.abort());
      // Some parts need time to finish.
      for (let tries = 0; tries < 200 && !over.signal.aborted; tries += 1) {
        await settle();
        clock.advance(500);
      }
      return ended;
    };
    stops.push(stop);
    return {
      manager,
      lines,
      ended,
      stop,
      leads: (): boolean => {
        try {
          return manager.gate.pass().remainingMs > 0;
        } catch {
          return false;
        }
      },
      ask: async (path: string): Promise<{ code: number; body: string }> => {
        const to = path.startsWith('/metrics') ? manager.addresses.metrics : manager.addresses.probes;
        const { port } = (await to) ?? { port: 0 };
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
        return { code: answer.status, body: await answer.text() };
      },
    };
  };

  const pass = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 1) {
      await settle();
      await harness.turn();
      await settle();
      clock.advance(1000);
    }
    await settle();
  };

  return {
    ...harness,
    /** Forbidden requests of managers. */
    refused,
    start,
    /** In steps, so that each timer sees the state of its time. */
    pass,
    /** Lets time pass until the result is defined. */
    eventually: async <T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> => {
      for (let second = 0; second < 900; second += 1) {
        const found = await look();
        if (found !== undefined) return found;
        await pass(1);
      }
      throw new Error(`it never came to this: ${what}`);
    },
  };
};

const lastingFor = { timeout: 60_000 };

describe('one runners controller', lastingFor, () => {
  test('starts, leads, registers a warm runner, and releases the lease at the stop', async (t) => {
    const harness = await createManagerHarness(t);
    await harness.addSecret();
    await harness.addPool(1);
    const started = harness.start('a');
    assert.ok(!started.leads());
    const warm = await harness.eventually('a warm runner', async () =>
      (await harness.pool())?.status?.warm ? true : undefined,
    );
    assert.ok(warm && started.leads());
    assert.deepEqual(
      harness.github.runners().map(({ name, isOnline }) => [name, isOnline]),
      (await harness.pods()).map(({ metadata }) => [metadata.name, true]),
    );
    assert.deepEqual(await started.ask('/readyz'), { code: 200, body: 'ok' });
    assert.equal((await started.ask('/healthz')).code, 200);
    const lease = () => harness.client.get(leases, { namespace, name: runnersLeaderElectionID });
    assert.equal((await lease()).spec?.holderIdentity, 'a');
    assert.deepEqual(await started.stop(), { ok: true });
    assert.equal((await lease()).spec?.holderIdentity ?? '', '');
    assert.ok(!started.leads());
    assert.equal((await harness.pods()).length, 1, 'runners outlive the controller');
    assert.deepEqual(harness.refused, []);
  });

  test('serves every metric', async (t) => {
    const harness = await createManagerHarness(t);
    await harness.addSecret();
    await harness.addPool(1);
    const started = harness.start('a');
    await harness.eventually('a warm runner', async () => ((await harness.pool())?.status?.warm ? true : undefined));
    const { body } = await started.ask('/metrics');
    for (const name of Object.values(runnerMetricNames)) assert.match(body, new RegExp(`^# TYPE ${name} `, 'm'), name);
    const exposed = new Set(body.match(/^tuist_\w+/gm)?.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')));
    const known = new Set<string>(Object.values(runnerMetricNames));
    assert.deepEqual(
      [...exposed].filter((name) => !known.has(name)),
      [],
    );
    assert.match(body, /^tuist_runners_pool_pods\{namespace="ci",pool="macos",state="warm"\} 1$/m);
    assert.match(body, /^tuist_runners_github_requests_total\{method="POST",route="[^"]*jitconfig",code="201"\} 1$/m);
    assert.match(body, /^tuist_runners_github_rate_limit_remaining\{app="github-app"\} \d+$/m);
    assert.match(body, /^leader_election_master_status\{name="runners-controller\.tuist\.dev"\} 1$/m);
    assert.match(body, /^rest_client_requests_total\{code="200",method="GET",host="in-process"\} \d+$/m);
  });

  test('shows no secret in its log, at any level', async (t) => {
    const harness = await createManagerHarness(t);
    const { data } = await harness.addSecret();
    await harness.addPool(2);
    const started = harness.start('a');
    await harness.eventually('two warm runners', async () =>
      (await harness.pool())?.status?.warm === 2 ? true : undefined,
    );
    const log = started.lines.join('\n');
    const held = (await harness.secrets()).flatMap((secret) => Object.values(secret.data ?? {}));
    assert.equal(held.length, 2);
    const hidden = [...Object.values(data ?? {}), ...held].filter((text) => text.length > 40);
    for (const text of hidden.flatMap((each) => [each, Buffer.from(each, 'base64').toString()]))
      assert.ok(!log.includes(text) && !log.includes(text.split('\n')[1] ?? text));
  });

  test('runs without a lease when leader election is off', async (t) => {
    const harness = await createManagerHarness(t);
    const started = harness.start('a', { options: optionsWith('--leader-elect=false') });
    await harness.pass(1);
    assert.ok(started.leads());
    assert.deepEqual((await harness.client.list(leases, { namespace })).items, []);
    assert.deepEqual(await started.stop(), { ok: true });
  });

  test('reports why it cannot listen on its port', async (t) => {
    const harness = await createManagerHarness(t);
    const first = harness.start('a');
    const { port } = (await first.manager.addresses.probes) ?? { port: 0 };
    const second = harness.start('b', { options: optionsWith(`--health-probe-bind-address=127.0.0.1:${port}`) });
    await harness.pass(3);
    const result = await second.ended;
    assert.ok(!result.ok && /cannot listen on 127\.0\.0\.1/.test(result.reason), JSON.stringify(result));
  });
});

describe('two runners controllers', lastingFor, () => {
  test('one leads and exposes pool metrics; after a failover no runner is created twice', async (t) => {
    const harness = await createManagerHarness(t);
    await harness.addSecret();
    await harness.addPool(2);
    const first = harness.start('a');
    await harness.pass(3);
    const second = harness.start('b');
    await harness.eventually('two warm runners', async () =>
      (await harness.pool())?.status?.warm === 2 ? true : undefined,
    );
    assert.deepEqual([first.leads(), second.leads()], [true, false]);
    assert.equal((await second.ask('/readyz')).code, 200, 'whoever stands by is ready');
    const series = new RegExp(`^${runnerMetricNames.wantedReplicas}\\{`, 'm');
    assert.match((await first.ask('/metrics')).body, series);
    assert.doesNotMatch((await second.ask('/metrics')).body, series);
    assert.deepEqual(await first.stop(), { ok: true });
    await harness.pass(20);
    assert.ok(second.leads());
    assert.match((await second.ask('/metrics')).body, series);
    assert.equal((await harness.pods()).length, 2);
    assert.equal(harness.github.runners().length, 2);
  });
});

describe('with only the RBAC rules of its table', lastingFor, () => {
  test('a pool is created, rolled and deleted without a forbidden request', async (t) => {
    const harness = await createManagerHarness(t, { macs: 2 });
    await harness.addSecret();
    await harness.addPool(2);
    harness.start('a');
    const status = async () => (await harness.pool())?.status;
    const warm = (count: number) => async () => ((await status())?.warm === count ? true : undefined);
    await harness.eventually('two warm runners', warm(2));

    harness.queueJob();
    await harness.eventually('a runner that had its job is reaped', async () =>
      (await status())?.reaped ? true : undefined,
    );
    await harness.eventually('another in its place', warm(2));
    const before = new Set((await harness.pods()).map(({ metadata }) => metadata.uid));

    await harness.setSpec({ image: 'macos:2' });
    await harness.eventually('all with the new image', async () =>
      (await status())?.observedImage === 'macos:2' ? true : undefined,
    );
    await harness.eventually('and warm', warm(2));
    for (const { metadata } of await harness.pods()) assert.ok(!before.has(metadata.uid));

    const [first, second] = harness.macs;
    assert.ok(first && second);
    await harness.cordon(first);
    await harness.eventually('nobody on the Mac that drains', async () =>
      (await harness.pods()).every(({ spec }) => spec?.nodeName !== first.name) ? true : undefined,
    );
    await harness.cordon(first, false);
    await harness.eventually('two warm runners again', warm(2));

    await harness.removeMac(second);
    await harness.eventually('nobody on the Mac that is gone', async () =>
      (await harness.pods()).every(({ spec }) => spec?.nodeName !== second.name) ? true : undefined,
    );

    await harness.setSpec({ replicas: 1 });
    await harness.eventually('one is enough', async () => ((await harness.pods()).length === 1 ? true : undefined));
    await harness.deletePool();
    await harness.eventually('the pool is gone', async () => ((await harness.pool()) === undefined ? true : undefined));
    await harness.eventually('and its Pods', async () => ((await harness.pods()).length === 0 ? true : undefined));
    assert.deepEqual(harness.refused, []);
    assert.deepEqual(harness.killed, []);
    assert.deepEqual(harness.github.lostJobs(), []);
  });
});
