import { runnerMetricNames } from '@tartan/api';
import type { CallReport } from '@tartan/github';
import { createMetrics, createScrapeGauges, describeMetrics, type MetricDescription, type Metrics } from '@tartan/kube';
import { type Clock, manualClock } from '@tartan/kube/clock';
import { Counter, type Registry } from 'prom-client';
import { type PoolState, registerPoolGauges } from './pool-gauges.ts';
import { createRunCounters, type PoolMetrics } from './run-counters.ts';

export interface GitHubMetrics {
  /** `app`: the Secret of the GitHub App as which it was asked. */
  call(app: string, report: CallReport): void;
}

/** GitHub counts anew after an hour: what is older says nothing. */
const limitWindowMs = 3_600_000;

export const createGitHubMetrics = (registry: Registry, clock: Clock, leads: () => boolean): GitHubMetrics => {
  const requests = new Counter({
    name: runnerMetricNames.githubRequests,
    help: 'Requests to GitHub. code is that of the answer, or none when there was no answer.',
    labelNames: ['method', 'route', 'code'],
    registers: [registry],
  });
  const left = new Map<string, { readonly calls: number; readonly at: number }>();
  createScrapeGauges(registry, () => (leads() ? left : undefined))(
    runnerMetricNames.githubRateRemaining,
    'Calls that GitHub allows within this hour: app is the Secret of the GitHub App. No series when it was not asked for an hour.',
    ['app'],
    (remaining, known) => {
      for (const [app, { calls, at }] of known) if (clock.now() - at < limitWindowMs) remaining.set({ app }, calls);
    },
  );
  return {
    call: (app, { method, route, status, remaining }) => {
      requests.inc({ method, route, code: status ?? 'none' });
      if (remaining !== undefined) left.set(app, { calls: remaining, at: clock.now() });
    },
  };
};

/** All that the runners controller measures, in one registry. docs/reference/metrics.md is made from it. */
export interface RunnerMetrics extends Metrics {
  readonly runs: PoolMetrics;
  readonly github: GitHubMetrics;
  /**
   * Figures about pools are read off caches at every scrape: a series cannot outlive its pool, and a new process has them all at once.
   * `read` answers undefined while this process does not lead: then there is no series, or sums over replicas would count twice.
   */
  setPoolReader(read: () => readonly PoolState[] | undefined): void;
}

/** `process` adds what Prometheus knows of any process. */
export const createRunnerMetrics = (options: { clock: Clock; process?: boolean }): RunnerMetrics => {
  const metrics = createMetrics(options);
  const { registry } = metrics;
  let read: () => readonly PoolState[] | undefined = () => undefined;
  let states: readonly PoolState[] | undefined;
  registerPoolGauges(createScrapeGauges(registry, () => states));
  return {
    ...metrics,
    runs: createRunCounters(registry),
    github: createGitHubMetrics(registry, options.clock, () => states !== undefined),
    setPoolReader: (source) => {
      read = source;
    },
    // Read once for all gauges: with thousands of Pods each look takes a while.
    text: () => {
      states = read();
      return metrics.text();
    },
  };
};

/** What the registry of a runners controller holds beside what every controller process has. */
export const runnerMetricsTable = (): readonly MetricDescription[] => {
  const clock = manualClock();
  const common = new Set(describeMetrics(createMetrics({ clock }).registry).map(({ name }) => name));
  return describeMetrics(createRunnerMetrics({ clock }).registry).filter(({ name }) => !common.has(name));
};
