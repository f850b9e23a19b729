import { createMetrics, type Metrics, stateGauges } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { createGitHubMetrics, type GitHubMetrics } from './github-metrics.ts';
import { measurePools } from './pool-gauges.ts';
import type { PoolState } from './pool-state.ts';
import { createRunCounters, type RunCounters } from './run-counters.ts';

/** All that the runners controller measures, in one registry. docs/metrics.md is made from it. */
export interface RunnerMetrics extends Metrics {
  readonly runs: RunCounters;
  readonly github: GitHubMetrics;
  /**
   * Figures about pools are read off caches at every scrape: a series cannot outlive its pool, and a new process has them all at once.
   * `read` answers undefined while this process does not lead: then there is no series, or sums over replicas would count twice.
   */
  show(read: () => readonly PoolState[] | undefined): void;
}

/** `process` adds what Prometheus knows of any process. */
export const createRunnerMetrics = (options: { clock: Clock; process?: boolean }): RunnerMetrics => {
  const metrics = createMetrics(options);
  const { registry } = metrics;
  let read: () => readonly PoolState[] | undefined = () => undefined;
  let states: readonly PoolState[] | undefined;
  measurePools(stateGauges(registry, () => states));
  return {
    ...metrics,
    runs: createRunCounters(registry),
    github: createGitHubMetrics(registry, options.clock, () => states !== undefined),
    show: (source) => {
      read = source;
    },
    // Read once for all gauges: with thousands of Pods each look takes a while.
    text: () => {
      states = read();
      return metrics.text();
    },
  };
};
