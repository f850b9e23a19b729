import { type RunnerPool, runnerPool } from '@tartan/api';
import {
  type Controller,
  type ControllerOptions,
  createController,
  done,
  fromInformer,
  type Informer,
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
import type { ActDeps } from './act/context.ts';
import { decide, type Plan } from './decide.ts';
import { type GitHubAccess, githubAccessOf } from './github/health.ts';
import { pollQueue } from './github/queue-poll.ts';
import type { ServiceForPool } from './github/service-for-pool.ts';
import { sweep } from './github/sweep.ts';
import { createPoolMemories, type PoolMemory } from './memory.ts';
import { type Observation, observe } from './observe.ts';
import { statusEvents, statusOf } from './status.ts';
import { coalesced, githubChanged, type PoolSources, poolSources } from './watches.ts';

interface RunnerPoolControllerOptions extends ActDeps, PoolSources {
  pools: Pick<Informer<RunnerPool>, 'get' | 'subscribe'>;
  serviceForPool: ServiceForPool;
  metrics?: ControllerOptions['metrics'];
}

/** Pools at the same time. One that waits for GitHub holds up no other. */
const workers = 4;
/** Failures are told apart by the server's own limits, so there is no reason to wait for long. */
const backoff = { baseMs: 250, maxMs: 30_000 };
const minRequeueMs = 10;
/** For changes that no watch reports. */
const resyncMs = 60_000;
/** Long enough for a crowd, too short to be noticed. */
const coalesceMs = 20;

/**
 * Keeps pools of runners: as many Pods as wanted, each with a runner at GitHub, and none taken away that has a job. Keys are
 * `namespace/pool`. Beside the passes it asks GitHub which jobs wait, and sweeps runners away that no Pod is behind.
 * Needs: list, watch, patch of runnerpools and patch of runnerpools/status; get, list, watch, create, patch, delete of pods; list, watch,
 * create, delete of serviceaccounts; get, create of secrets; get, list, watch of nodes; create, patch of events.
 */
export const createRunnerPoolControllers = (options: RunnerPoolControllerOptions): readonly Controller[] => {
  const { pools, clock, log, metrics, limits, poolMetrics } = options;
  const memories = createPoolMemories(clock);

  const reconcile: Reconciler = async (key, signal) => {
    const cached = pools.get(key);
    if (cached === undefined) {
      memories.forget(key);
      poolMetrics.forget(nameOf(key));
      return done;
    }
    const memory = memories.of(cached);
    const github = await githubAccessOf(options, memory, signal);
    const look = (): Promise<Observation> =>
      observe(options, memory, github().service === undefined ? 'unusable' : 'usable', signal);
    const before = await look();
    const plan = decide(before.snapshot, limits);
    const context = { deps: options, memory, service: github().service, signal };
    const failures = await executePlan(context, plan, before);
    if (plan.removeFinalizer && failures.length === 0) return done;
    const isWritten = await writeStatus(options, memory, isEmptyPlan(plan) ? before : await look(), github(), signal);
    if (failures.length > 0) return failedOutcome(failures);
    return isWritten ? requeueAfter(requeueDelay(plan, github(), clock.now())) : requeueAfter(backoff.baseMs);
  };

  let enqueuePool = (_key: string): void => {};
  const queueChanged: Source = (enqueue) => {
    enqueuePool = enqueue;
    return () => {
      enqueuePool = () => {};
    };
  };
  const common = {
    clock,
    log,
    workers,
    backoff,
    metrics,
  } satisfies Partial<ControllerOptions>;
  const sources = [...poolSources(options), queueChanged];
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
      reconcile: (key, signal) => sweep(options, memories, key, signal),
      sources: [fromInformer(pools, requestForObject, githubChanged)],
    }),
  ];
};

/** What users see, and what is measured. Written only when it says something else than before. False: somebody wrote meanwhile. */
const writeStatus = async (
  { client, limits, events }: RunnerPoolControllerOptions,
  memory: PoolMemory,
  { snapshot }: Observation,
  { problem }: GitHubAccess,
  signal: AbortSignal,
): Promise<boolean> => {
  const { pool, queue, newestRunner } = memory;
  const { name, generation = 0 } = pool.metadata;
  const about = { name, image: pool.spec.image, generation, github: problem, queue, newestRunner };
  const status = statusOf(pool.status, snapshot, about, limits);
  try {
    memory.pool = await patchStatus(client, runnerPool.resource, pool, status, { signal });
  } catch (error) {
    if (isKubeError(error, 'conflict', 'notFound')) return false;
    throw error;
  }
  for (const happening of statusEvents(pool.status, status)) events.event(pool, happening);
  return true;
};

const isEmptyPlan = (plan: Plan): boolean =>
  plan.create === 0 &&
  !plan.addFinalizer &&
  [plan.register, plan.retire, plan.remove, plan.reap, plan.removeAccounts].every((list) => list.length === 0);

const requeueDelay = (plan: Plan, { retryAt }: GitHubAccess, now: number): number =>
  Math.min(
    resyncMs,
    ...[plan.requeueAt, retryAt].map((at) => (at === undefined ? resyncMs : Math.max(minRequeueMs, at - now))),
  );

const failedOutcome = (failures: readonly unknown[]): ReconcileResult => ({
  kind: 'failed',
  error:
    failures.length === 1 ? failures[0] : new AggregateError(failures, `${failures.length} things could not be done`),
});
