import { runnerMetricNames } from '@tartan/api';
import type { ObjectName } from '@tartan/kube';
import { Counter, Histogram, type Registry } from 'prom-client';

const results = ['succeeded', 'failed'] as const;
/** How a runner ended. */
export type RunResult = (typeof results)[number];

export type PoolMetrics = ReturnType<typeof createRunCounters>;

/** In minutes, up to ten days: GitHub ends a job after five days, and the runner may have waited five days for it. */
const runBuckets = [1, 2, 5, 10, 20, 40, 60, 120, 360, 720, 1_440, 7_200, 14_400];

const poolLabels = ({ namespace = '', name }: ObjectName) => ({ namespace, pool: name });

/** Counters of the controller of pools, which runs in the leader only. */
export const createRunCounters = (registry: Registry) => {
  const labelNames = ['namespace', 'pool', 'result'] as const;
  const registers = [registry];
  const reaped = new Counter({
    name: runnerMetricNames.reaped,
    help: 'Pods that had ended and were taken away: result is succeeded or failed.',
    labelNames,
    registers,
  });
  const seconds = new Histogram({
    name: runnerMetricNames.runSeconds,
    help: 'How long virtual machines of runners ran, waiting included. Of those that never did there is none.',
    labelNames,
    buckets: runBuckets.map((minutes) => minutes * 60),
    registers,
  });
  const unreachable = new Counter({
    name: runnerMetricNames.unreachable,
    help: 'Runners that were retired to free their slot, because GitHub showed them as offline for longer than --stuck-after-seconds.',
    labelNames: ['namespace', 'pool'],
    registers,
  });
  return {
    /** A runner that never connected, or lost its connection, was retired to free its slot. */
    unreachable: (pool: ObjectName): void => unreachable.inc(poolLabels(pool)),
    /** `ranSeconds`: how long the virtual machine ran, if that is known. */
    reaped: (pool: ObjectName, result: RunResult, ranSeconds: number | undefined): void => {
      const labels = { ...poolLabels(pool), result };
      reaped.inc(labels);
      if (ranSeconds !== undefined) seconds.observe(labels, ranSeconds);
    },
    /** The pool is gone. */
    forget: (pool: ObjectName): void => {
      unreachable.remove(poolLabels(pool));
      for (const result of results) {
        reaped.remove({ ...poolLabels(pool), result });
        seconds.remove({ ...poolLabels(pool), result });
      }
    },
  };
};
