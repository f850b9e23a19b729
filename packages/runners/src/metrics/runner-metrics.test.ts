import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations, runnerBusyCondition, runnerMetricNames, type RunnerPool, runnerPool } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import type { Node, Pod } from '../pool/snapshot.ts';
import { poolStates } from './pool-gauges.ts';
import { createRunnerMetrics, runnerMetricsTable } from './runner-metrics.ts';

const now = Date.parse('2026-01-01T01:00:00Z');
const metadata = (name: string) => ({
  name,
  namespace: 'ci',
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});

const poolWith = (replicas: number, status: RunnerPool['status']): Live<RunnerPool> => ({
  ...runnerPool.make({
    metadata: metadata('macos'),
    spec: { replicas, image: 'new', fleetSelector: 'runners', rollout: { maxConcurrentPercent: 50 } },
  }),
  metadata: metadata('macos'),
  ...(status && { status }),
});

interface Shape {
  readonly phase: 'Pending' | 'Running' | 'Succeeded';
  readonly image?: string;
  readonly busy?: 'True' | 'False';
  readonly retired?: boolean;
  readonly deletedAt?: string;
  readonly node?: string | null;
  readonly boundAt?: string;
}

const podOf = (name: string, shape: Shape): Live<Pod> => {
  const { phase, image = 'new', busy, retired = false, deletedAt, node = 'mac-1', boundAt } = shape;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata(name),
      ...(deletedAt !== undefined && { deletionTimestamp: deletedAt }),
      annotations: {
        [annotations.runnerID]: '7',
        ...(retired && { [annotations.runnerRetired]: '2026-01-01T00:59:00Z' }),
      },
    },
    spec: { containers: [{ name: 'runner', image }], ...(node !== null && { nodeName: node }) },
    status: {
      phase,
      conditions: [
        ...(busy === undefined ? [] : [{ type: runnerBusyCondition, status: busy }]),
        ...(boundAt === undefined
          ? []
          : [{ type: 'PodScheduled', status: 'True', lastTransitionTime: boundAt } as const]),
      ],
    },
  };
};

const mac: Live<Node> = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: metadata('mac-1'),
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
};

const statesOf = (pool: Live<RunnerPool>, pods: readonly Live<Pod>[]) =>
  poolStates(
    {
      pools: { list: () => [pool] },
      pods: { byIndex: (_, uid) => (uid === pool.metadata.uid ? [...pods] : []) },
      nodes: { get: (name) => (name === 'mac-1' ? mac : undefined) },
    },
    now,
  );

/** The series without the common labels of pools: `pods{state="warm"} 1`. */
const seriesOf = async (pool: Live<RunnerPool>, pods: readonly Live<Pod>[]): Promise<string[]> => {
  const metrics = createRunnerMetrics({ clock: manualClock() });
  metrics.setPoolReader(() => statesOf(pool, pods));
  const { body } = await metrics.text();
  return body
    .split('\n')
    .filter((line) => line.startsWith('tuist_runners_pool_'))
    .map((line) =>
      line
        .replace('tuist_runners_pool_', '')
        .replace('namespace="ci",pool="macos",', '')
        .replace('{namespace="ci",pool="macos"}', ''),
    );
};

describe('pool metrics', () => {
  test('each Pod is counted in one state, and zeros are exposed', async () => {
    const lines = await seriesOf(poolWith(5, undefined), [
      podOf('a', { phase: 'Running', busy: 'False' }),
      podOf('b', { phase: 'Running', busy: 'False' }),
      podOf('c', { phase: 'Running', busy: 'True' }),
      podOf('d', { phase: 'Running', busy: 'False', retired: true }),
      podOf('e', { phase: 'Succeeded' }),
      podOf('f', { phase: 'Running', busy: 'True', deletedAt: '2026-01-01T00:50:00Z' }),
    ]);
    assert.deepEqual(
      lines.filter((line) => /^(pods|wanted)/.test(line)),
      [
        'pods{state="starting"} 0',
        'pods{state="warm"} 2',
        'pods{state="busy"} 1',
        'pods{state="retiring"} 1',
        'pods{state="ended"} 1',
        'pods{state="terminating"} 1',
        'wanted_replicas 5',
      ],
    );
  });

  test('ages are those of the oldest Pod: without a VM on its Mac, and after its grace period', async () => {
    const lines = await seriesOf(poolWith(5, undefined), [
      podOf('a', { phase: 'Pending', boundAt: '2026-01-01T00:30:00Z' }),
      podOf('b', { phase: 'Pending', boundAt: '2026-01-01T00:40:00Z' }),
      podOf('c', { phase: 'Pending', node: null, boundAt: '2026-01-01T00:00:00Z' }),
      podOf('d', { phase: 'Running', deletedAt: '2026-01-01T00:50:00Z' }),
      podOf('e', { phase: 'Running', deletedAt: '2026-01-01T01:10:00Z' }),
    ]);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('oldest')),
      ['oldest_pending_pod_age_seconds 1800', 'oldest_terminating_pod_age_seconds 600'],
    );
    assert.deepEqual(
      (await seriesOf(poolWith(5, undefined), [])).filter((line) => line.startsWith('oldest')),
      ['oldest_pending_pod_age_seconds 0', 'oldest_terminating_pod_age_seconds 0'],
    );
  });

  test('a rollout has stale Pods, replicas without a runner, and the cap', async () => {
    const old = { image: 'old', phase: 'Running', busy: 'False' } as const;
    const rolling = (lines: string[]): string[] => lines.filter((line) => /^(stale|roll)/.test(line));
    assert.deepEqual(
      rolling(
        await seriesOf(poolWith(4, undefined), [
          podOf('a', old),
          podOf('b', { ...old, retired: true }),
          podOf('c', { phase: 'Pending' }),
          podOf('d', { phase: 'Running', busy: 'False' }),
        ]),
      ),
      ['stale_pods 2', 'rolling_pods 2', 'roll_concurrency_cap 2'],
    );
    assert.deepEqual(
      rolling(await seriesOf(poolWith(4, undefined), [podOf('c', { phase: 'Pending' })])),
      ['stale_pods 0', 'rolling_pods 0', 'roll_concurrency_cap 2'],
      'Pods that start are no roll',
    );
  });

  test('queued jobs are exposed while GitHub reports them', async () => {
    const queue = { jobs: 3, oldestSince: '2026-01-01T00:55:00Z', observedAt: '2026-01-01T00:59:00Z' };
    const queueLines = (lines: string[]): string[] => lines.filter((line) => line.includes('queued'));
    assert.deepEqual(queueLines(await seriesOf(poolWith(1, { observedGeneration: 1, queue }), [])), [
      'queued_jobs 3',
      'oldest_queued_job_age_seconds 300',
    ]);
    assert.deepEqual(queueLines(await seriesOf(poolWith(1, { observedGeneration: 1 }), [])), []);
  });

  test('each condition has a series per status', async () => {
    const condition = {
      type: 'GitHubReachable',
      status: 'False',
      reason: 'Denied',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const;
    const lines = await seriesOf(poolWith(1, { observedGeneration: 1, conditions: [condition] }), []);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('condition')),
      [
        'condition{type="GitHubReachable",status="True"} 0',
        'condition{type="GitHubReachable",status="False"} 1',
        'condition{type="GitHubReachable",status="Unknown"} 0',
      ],
    );
  });

  test('finished runs have buckets above five days of waiting and five of work', async () => {
    const metrics = createRunnerMetrics({ clock: manualClock() });
    const pool = { namespace: 'ci', name: 'macos' };
    const worst = 10 * 86_400;
    metrics.runs.reaped(pool, 'failed', worst);
    const { body } = await metrics.text();
    assert.match(body, /^tuist_runners_pool_reaped_total\{namespace="ci",pool="macos",result="failed"\} 1$/m);
    assert.match(body, new RegExp(`^tuist_runners_pool_run_seconds_bucket\\{le="${worst}",.*\\} 1$`, 'm'));
  });
});

describe('GitHub metrics', () => {
  const report = { method: 'GET', route: '/orgs/{org}/actions/runners' };
  const linesOf = async (metrics: ReturnType<typeof createRunnerMetrics>): Promise<string[]> =>
    (await metrics.text()).body.split('\n').filter((line) => line.startsWith('tuist_runners_github'));

  test('every request and the remaining rate limit are exposed', async () => {
    const metrics = createRunnerMetrics({ clock: manualClock() });
    metrics.setPoolReader(() => []);
    metrics.github.call('github-app', { ...report, status: 200, remaining: 4711 });
    metrics.github.call('github-app', { ...report, status: undefined, remaining: undefined });
    metrics.github.call('github-app', { ...report, status: 'blocked', remaining: undefined });
    assert.deepEqual(await linesOf(metrics), [
      'tuist_runners_github_requests_total{method="GET",route="/orgs/{org}/actions/runners",code="200"} 1',
      'tuist_runners_github_requests_total{method="GET",route="/orgs/{org}/actions/runners",code="none"} 1',
      'tuist_runners_github_requests_total{method="GET",route="/orgs/{org}/actions/runners",code="blocked"} 1',
      'tuist_runners_github_rate_limit_remaining{app="github-app"} 4711',
    ]);
  });

  test('a rate limit older than an hour, or of a former leader, is not exposed', async () => {
    const clock = manualClock();
    const metrics = createRunnerMetrics({ clock });
    let leads = true;
    metrics.setPoolReader(() => (leads ? [] : undefined));
    metrics.github.call('github-app', { ...report, status: 200, remaining: 3 });
    const isExposed = async (): Promise<boolean> => (await linesOf(metrics)).some((line) => line.includes('remaining'));
    assert.equal(await isExposed(), true);
    leads = false;
    assert.equal(await isExposed(), false);
    leads = true;
    clock.advance(3_600_000);
    assert.equal(await isExposed(), false);
  });
});

describe('the table of metrics', () => {
  test('has exactly the names that docs, alerts and dashboards use', () => {
    assert.deepEqual(
      runnerMetricsTable().map(({ name }) => name),
      Object.values(runnerMetricNames).toSorted((a, b) => a.localeCompare(b)),
    );
  });

  test('has a help text in sentences for each', () => {
    for (const { help, name } of runnerMetricsTable()) assert.match(help, /^[A-Z].*\.$/, name);
  });

  test('a process that does not lead exposes no pool metrics', async () => {
    const metrics = createRunnerMetrics({ clock: manualClock() });
    metrics.setPoolReader(() => undefined);
    const { body } = await metrics.text();
    assert.deepEqual(
      body.split('\n').filter((line) => line.startsWith('tuist_runners_pool')),
      [],
    );
  });
});
