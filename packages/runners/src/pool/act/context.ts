import type { RunnerService } from '@tartan/github';
import type { Client, EventRecorder, Gate, Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { PoolMetrics } from '../../metrics/run-counters.ts';
import type { ServiceForPool } from '../github/service-for-pool.ts';
import type { Limits } from '../limits.ts';
import type { PoolMemory } from '../memory.ts';
import type { PoolCaches } from '../watches.ts';

/** What the controllers of pools need. */
export interface PoolDeps extends PoolCaches {
  client: Client;
  clock: Clock;
  events: Pick<EventRecorder, 'event'>;
  gate: Gate;
  log: Logger;
  poolMetrics: PoolMetrics;
  randomBytes: (count: number) => Uint8Array;
  limits: Limits;
  serviceForPool: ServiceForPool;
}

/** One pass over one pool. */
export interface ActContext {
  readonly deps: PoolDeps;
  readonly memory: PoolMemory;
  /** Undefined while GitHub should not be called. */
  readonly service: RunnerService | undefined;
  readonly signal: AbortSignal;
}

/** Options of a call that only the leader may make. */
export const leaderCallOptions = ({ deps, signal }: ActContext): { signal: AbortSignal; deadlineMs: number } => ({
  signal,
  deadlineMs: Math.max(1, Math.min(deps.gate.pass().remainingMs, maxCallMs)),
});

const maxCallMs = 30_000;
