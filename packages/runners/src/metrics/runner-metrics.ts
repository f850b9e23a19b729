import { runnerMetricNames } from '@tartan/api';
import type { CallReport } from '@tartan/github';
import { createMetrics, createScrapeGauges, describeMetrics, type MetricDescription } from '@tartan/kube';
import { type Clock, manualClock } from '@tartan/kube/clock';
import { Counter, type Registry } from 'prom-client';
import { type PoolState, registerPoolGauges } from './pool-gauges.ts';
import { createRunCounters } from './run-counters.ts';

/** GitHub's limits are per hour: an older figure is out of date. */
const limitWindowMs = 3_600_000;

const createGitHubMetrics = (registry: Registry, clock: Clock, leads: () => boolean) => {
  const requests = new Counter({
    name: runnerMetricNames.githubRequests,
    help: 'Requests to GitHub. code is that of the answer, none when there was no answer, or blocked when a request was not sent because of a rate limit: of GitHub, or of the share for background requests.',
    labelNames: ['method', 'route', 'code'],
    registers: [registry],
  });
  const left = new Map<string, { readonly calls: number; readonly at: number }>();
  createScrapeGauges(registry, () => (leads() ? left : undefined))(
    runnerMetricNames.githubRateRemaining,
    'Calls that GitHub allows within this hour: app is the Secret of the GitHub App. No series when it was not asked for an hour.',
    ['app'],
    (remaining, known) => {
      for (const [app, { calls, at }] of known)
        if (clock.now() - at < limitWindowMs) remaining.set({ app }, calls);
        else known.delete(app);
    },
  );
  return {
    /** `app`: the Secret of the GitHub App. */
    call: (app: string, { method, route, status, remaining }: CallReport): void => {
      requests.inc({ method, route, code: status ?? 'none' });
      if (remaining !== undefined) left.set(app, { calls: remaining, at: clock.now() });
    },
  };
};

export type RunnerMetrics = ReturnType<typeof createRunnerMetrics>;

type ReadPools = () => readonly PoolState[] | undefined;

/** All metrics of the runners controller. */
export const createRunnerMetrics = (options: { clock: Clock }) => {
  const metrics = createMetrics(options);
  const { registry } = metrics;
  let read: ReadPools = () => undefined;
  let states: readonly PoolState[] | undefined;
  registerPoolGauges(createScrapeGauges(registry, () => states));
  return {
    ...metrics,
    runs: createRunCounters(registry),
    github: createGitHubMetrics(registry, options.clock, () => states !== undefined),
    /**
     * Gauges of pools are read off caches at every scrape: a series cannot outlive its pool, and a new process has them all at once.
     * `read` returns undefined while this process does not lead: then there is no series, or sums over replicas would count twice.
     */
    setPoolReader: (source: ReadPools): void => {
      read = source;
    },
    // Read once for all gauges: with thousands of Pods each read takes a while.
    text: () => {
      states = read();
      return metrics.text();
    },
  };
};

/** The metrics that only the runners controller has. */
export const runnerMetricsTable = (): readonly MetricDescription[] => {
  const clock = manualClock();
  const common = new Set(describeMetrics(createMetrics({ clock }).registry).map(({ name }) => name));
  return describeMetrics(createRunnerMetrics({ clock }).registry).filter(({ name }) => !common.has(name));
};
