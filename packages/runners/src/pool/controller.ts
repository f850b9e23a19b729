import { type RunnerPool, runnerPool } from '@tartan/api';
import {
  again,
  type Controller,
  type ControllerOptions,
  createController,
  createWorkQueue,
  fromCache,
  isKubeError,
  itsOwnKey,
  nameOf,
  type Outcome,
  patchStatus,
  type Reconcile,
  settled,
  type Source,
  type WatchCache,
} from '@tartan/kube';
import type { GitHubAccounts } from '../github-accounts/create-github-accounts.ts';
import { carryOut, type World } from './act/index.ts';
import { askGitHub, type GitHubOfPool } from './ask-github.ts';
import { coalesced } from './coalesce.ts';
import { decide } from './decide.ts';
import { happeningsOf } from './happenings.ts';
import { createMemories, type PoolMemory } from './memory.ts';
import { type Observation, observe } from './observe.ts';
import type { Plan } from './plan.ts';
import { lookAtQueue } from './queue-look.ts';
import { runTogether } from './run-together.ts';
import { githubChanged, type PoolSources, poolSources } from './sources.ts';
import { statusOf } from './status.ts';
import { sweep } from './sweep.ts';

export interface RunnerPoolControllerOptions extends World, PoolSources {
  pools: Pick<WatchCache<RunnerPool>, 'get' | 'subscribe'>;
  services: GitHubAccounts;
  metrics?: ControllerOptions['metrics'];
  /** A minute unless told: for whatever nobody has told of. */
  lookAgainMs?: number;
}

/** Pools at the same time. One that waits for GitHub holds up no other. */
const workers = 4;
/** Failures are told apart by the server's own limits, so there is no reason to wait for long. */
const backoff = { baseMs: 250, maxMs: 30_000 };
const soonMs = 10;
/** Long enough for a crowd, too short to be noticed. */
const gatherMs = 20;

/**
 * Keeps pools of runners: as many Pods as wanted, each with a runner at GitHub, and none taken away that has a job. Keys are
 * `namespace/pool`. Beside the passes it asks GitHub which jobs wait, and sweeps runners away that no Pod is behind.
 * Needs: list, watch, patch of runnerpools and patch of runnerpools/status; get, list, watch, create, patch, delete of pods; list, watch,
 * create, delete of serviceaccounts; get, create of secrets; get, list, watch of nodes; create, patch of events.
 */
export const createRunnerPoolController = (options: RunnerPoolControllerOptions): Controller => {
  const { pools, clock, log, metrics, limits, poolMetrics, lookAgainMs = 60_000 } = options;
  const memories = createMemories(clock);

  const reconcile: Reconcile = async (key, signal) => {
    const cached = pools.get(key);
    if (cached === undefined) {
      memories.forget(key);
      poolMetrics.forget(nameOf(key));
      return settled;
    }
    const memory = memories.of(cached);
    const github = await askGitHub(options, memory, signal);
    const look = (): Promise<Observation> =>
      observe(options, memory, github().service === undefined ? 'unusable' : 'usable', signal);
    const before = await look();
    const plan = decide(before.snapshot, limits);
    const act = { world: options, memory, service: github().service, signal };
    const failures = await carryOut(act, plan, before);
    if (plan.removeFinalizer && failures.length === 0) return settled;
    const isSaid = await say(options, memory, doesNothing(plan) ? before : await look(), github(), signal);
    if (failures.length > 0) return failed(failures);
    return isSaid ? again(waitFor(plan, github(), clock.now(), lookAgainMs)) : again(backoff.baseMs);
  };

  let wake = (_key: string): void => {};
  const woken: Source = (enqueue) => {
    wake = enqueue;
    return () => {
      wake = () => {};
    };
  };
  const common = {
    clock,
    log,
    workers,
    queue: (observer) => createWorkQueue({ clock, backoff, ...(observer && { observer }) }),
    ...(metrics && { metrics }),
  } satisfies Partial<ControllerOptions>;
  const sources = [...poolSources(options), woken];
  return runTogether('runner-pool', [
    createController({
      ...common,
      name: 'runner-pool',
      reconcile,
      sources: sources.map((each) => coalesced(each, clock, gatherMs)),
    }),
    createController({
      ...common,
      name: 'runner-queue',
      reconcile: (key, signal) => lookAtQueue(options, memories, key, (of) => wake(of), signal),
      sources: [fromCache(pools, itsOwnKey, githubChanged)],
    }),
    createController({
      ...common,
      name: 'runner-sweep',
      reconcile: (key, signal) => sweep(options, memories, key, signal),
      sources: [fromCache(pools, itsOwnKey, githubChanged)],
    }),
  ]);
};

/** What users see, and what is measured. Written only when it says something else than before. False: somebody wrote meanwhile. */
const say = async (
  { client, limits, events }: RunnerPoolControllerOptions,
  memory: PoolMemory,
  { snapshot }: Observation,
  { problem }: GitHubOfPool,
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
  for (const happening of happeningsOf(pool.status, status)) events.event(pool, happening);
  return true;
};

const doesNothing = (plan: Plan): boolean =>
  plan.create === 0 &&
  !plan.addFinalizer &&
  [plan.register, plan.retire, plan.remove, plan.reap, plan.removeAccounts].every((list) => list.length === 0);

const waitFor = (plan: Plan, { againAt }: GitHubOfPool, now: number, atMost: number): number =>
  Math.min(
    atMost,
    ...[plan.lookAgainAt, againAt].map((at) => (at === undefined ? atMost : Math.max(soonMs, at - now))),
  );

const failed = (failures: readonly unknown[]): Outcome => ({
  kind: 'failed',
  error:
    failures.length === 1 ? failures[0] : new AggregateError(failures, `${failures.length} things could not be done`),
});
