import type { RunnerService } from '@tartan/github';
import type { Client, EventRecorder, Gate, Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { PoolMetrics } from '../../metrics/run-counters.ts';
import type { Limits } from '../limits.ts';
import type { PoolMemory } from '../memory.ts';

/** What acts need of the world. */
export interface ActDeps {
  client: Client;
  clock: Clock;
  events: Pick<EventRecorder, 'event'>;
  gate: Gate;
  log: Logger;
  poolMetrics: PoolMetrics;
  randomBytes: (count: number) => Uint8Array;
  limits: Limits;
}

/** One pass over one pool. */
export interface ActContext {
  readonly deps: ActDeps;
  readonly memory: PoolMemory;
  /** Undefined while it makes no sense to ask GitHub. */
  readonly service: RunnerService | undefined;
  readonly signal: AbortSignal;
}

/** Options of a call that must not happen once somebody else leads. */
export const leaderCallOptions = ({ deps, signal }: ActContext): { signal: AbortSignal; deadlineMs: number } => ({
  signal,
  deadlineMs: Math.max(1, Math.min(deps.gate.pass().remainingMs, maxCallMs)),
});

const maxCallMs = 30_000;
