import { runnerMetricNames } from '@tartan/api';
import type { ObjectName } from '@tartan/kube';
import { Counter, Histogram, type Registry } from 'prom-client';

/** How a runner ended. */
export type RunResult = 'succeeded' | 'failed';

/** Told of what happens only once. How a pool is can be seen at any time. Nothing here may throw. */
export interface PoolMetrics {
  /** A Pod that had ended was taken away. */
  reaped(pool: ObjectName, result: RunResult): void;
  /** How long its virtual machine ran, if that is known. */
  ran(pool: ObjectName, result: RunResult, seconds: number): void;
  /** A runner that never connected, or lost its connection for good, was retired to free its slot. */
  unreachable(pool: ObjectName): void;
  /** The pool is gone. */
  forget(pool: ObjectName): void;
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
/** GitHub ends a job on a runner of one's own after five days; a runner may have waited as long for it. */
const secondsBuckets = [
  minute,
  2 * minute,
  5 * minute,
  10 * minute,
  20 * minute,
  40 * minute,
  hour,
  2 * hour,
  6 * hour,
  12 * hour,
  day,
  5 * day,
  10 * day,
];

const results = ['succeeded', 'failed'] as const satisfies readonly RunResult[];

const poolLabels = ({ namespace = '', name }: ObjectName) => ({ namespace, pool: name });

/** What the controller tells of runners that have ended. Only the leader has a controller that runs. */
export const createRunCounters = (registry: Registry): PoolMetrics => {
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
    buckets: secondsBuckets,
    registers,
  });
  const unreachable = new Counter({
    name: runnerMetricNames.unreachable,
    help: 'Runners that were retired to free their slot, because GitHub showed them as offline for longer than --stuck-after-seconds.',
    labelNames: ['namespace', 'pool'],
    registers,
  });
  return {
    unreachable: (pool) => unreachable.inc(poolLabels(pool)),
    reaped: (pool, result) => reaped.inc({ ...poolLabels(pool), result }),
    ran: (pool, result, ran) => seconds.observe({ ...poolLabels(pool), result }, ran),
    forget: (pool) => {
      unreachable.remove(poolLabels(pool));
      for (const result of results) {
        reaped.remove({ ...poolLabels(pool), result });
        seconds.remove({ ...poolLabels(pool), result });
      }
    },
  };
};
