import { runnerPool } from '@tartan/api';
import {
  type Controller,
  type ControllerOptions,
  createController,
  done,
  fromInformer,
  isKubeError,
  nameOf,
  patchStatus,
  type Reconciler,
  type ReconcileResult,
  requestForObject,
  requeueAfter,
  type Source,
} from '@tartan/kube';
import { executePlan } from './act.ts';
import type { PoolDeps } from './act/context.ts';
import { decide, type Plan } from './decide.ts';
import { type GitHubAccess, githubAccessOf } from './github/health.ts';
import { pollQueue } from './github/queue-poll.ts';
import { sweep } from './github/sweep.ts';
import { createPoolMemories, type PoolMemory } from './memory.ts';
import { type Observation, observe } from './observe.ts';
import { statusEvents, statusOf } from './status.ts';
import { coalesced, githubChanged, poolSources } from './watches.ts';

interface RunnerPoolControllerOptions extends PoolDeps {
  /** Default: `client`. */
  sweepClient?: PoolDeps['client'];
  metrics?: ControllerOptions['metrics'];
}

/** Pools that are reconciled concurrently. A pool that waits for GitHub blocks no other. */
const workers = 4;
const backoff = { baseMs: 250, maxMs: 30_000 };
const minRequeueMs = 10;
/** For changes that no watch reports. */
const resyncMs = 60_000;
/** Long enough for a burst of changes, too short to be noticed. */
const coalesceMs = 20;

/**
 * Keeps pools of runners: as many Pods as wanted, each with a runner at GitHub; a Pod with a job is not deleted. Keys are
 * `namespace/pool`. Two more controllers ask GitHub which jobs wait, and sweep runners without a Pod.
 * Needs: list, watch, patch of runnerpools and patch of runnerpools/status; get, list, watch, create, patch, delete of pods; list, watch,
 * create, delete of serviceaccounts; get, create of secrets; get, list, watch of nodes; create, patch of events.
 */
export const createRunnerPoolControllers = (options: RunnerPoolControllerOptions): readonly Controller[] => {
  const { pools, clock, log, metrics, limits, poolMetrics, sweepClient = options.client } = options;
  const memories = createPoolMemories(clock);

  const forget = (key: string): void => {
    memories.forget(key);
    poolMetrics.forget(nameOf(key));
  };
  /** Pools that were deleted while another process led. */
  const forgetGonePools: Source = () => {
    for (const key of memories.keys()) if (pools.get(key) === undefined) forget(key);
    return () => {};
  };

  const reconcile: Reconciler = async (key, signal) => {
    const cached = pools.get(key);
    if (cached === undefined) {
      forget(key);
      return done;
    }
    const memory = memories.of(cached);
    const github = await githubAccessOf(options, memory, signal);
    const observePool = (): Promise<Observation> =>
      observe(options, memory, github.service() === undefined ? 'unusable' : 'usable', signal);
    const before = await observePool();
    const plan = decide(before.snapshot, limits);
    const context = { deps: options, memory, service: github.service(), signal };
    const failures = await executePlan(context, plan, before);
    if (plan.removeFinalizer && failures.length === 0) return done;
    const after = isEmptyPlan(plan) ? before : await observePool();
    const isWritten = await writeStatus(options, memory, after, github, signal);
    if (failures.length > 0) return failedOutcome(failures);
    return isWritten ? requeueAfter(requeueDelay(plan, github, clock.now())) : requeueAfter(backoff.baseMs);
  };

  let enqueuePool = (_key: string): void => {};
  const queueChanged: Source = (enqueue) => {
    enqueuePool = enqueue;
    return () => {
      enqueuePool = () => {};
    };
  };
  const common = { clock, log, workers, backoff, metrics };
  const sources = [forgetGonePools, ...poolSources(options), queueChanged];
  return [
    createController({
      ...common,
      name: 'runner-pool',
      reconcile,
      sources: sources.map((each) => coalesced(each, clock, coalesceMs)),
    }),
    createController({
      ...common,
      name: 'runner-queue',
      reconcile: (key, signal) => pollQueue(options, memories, key, (of) => enqueuePool(of), signal),
      sources: [fromInformer(pools, requestForObject, githubChanged)],
    }),
    createController({
      ...common,
      name: 'runner-sweep',
      reconcile: (key, signal) => sweep({ ...options, client: sweepClient }, memories, key, signal),
      sources: [fromInformer(pools, requestForObject, githubChanged)],
    }),
  ];
};

/** Patches the status if it has changed. False: the pool was written meanwhile. */
const writeStatus = async (
  { client, limits, events }: RunnerPoolControllerOptions,
  memory: PoolMemory,
  { snapshot }: Observation,
  github: GitHubAccess,
  signal: AbortSignal,
): Promise<boolean> => {
  const { pool } = memory;
  const status = statusOf(memory, snapshot, github.failure(), limits);
  try {
    memory.pool = await patchStatus(client, runnerPool.resource, pool, status, { signal });
  } catch (error) {
    if (isKubeError(error, 'conflict', 'notFound')) return false;
    throw error;
  }
  for (const event of statusEvents(pool.status, status)) events.event(pool, event);
  return true;
};

const isEmptyPlan = (plan: Plan): boolean =>
  plan.create === 0 &&
  !plan.addFinalizer &&
  [plan.register, plan.retire, plan.remove, plan.reap, plan.removeAccounts].every((list) => list.length === 0);

const requeueDelay = ({ requeueAt }: Plan, { service, failure }: GitHubAccess, now: number): number => {
  const retryAt = service() === undefined ? failure()?.retryAt : undefined;
  const due = [requeueAt, retryAt].flatMap((at) => (at === undefined ? [] : Math.max(minRequeueMs, at - now)));
  return Math.min(resyncMs, ...due);
};

const failedOutcome = (failures: readonly unknown[]): ReconcileResult => ({
  kind: 'failed',
  error:
    failures.length === 1 ? failures[0] : new AggregateError(failures, `${failures.length} things could not be done`),
});
