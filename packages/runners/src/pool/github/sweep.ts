import type { RunnerPool } from '@tartan/api';
import type { Runner, RunnerService } from '@tartan/github';
import { done, ignoreNotFound, type Live, pods, type ReconcileResult, requeueAfter } from '@tartan/kube';
import type { PoolDeps } from '../act/context.ts';
import type { PoolMemories } from '../memory.ts';
import { isRunnerNameOf } from '../pod-template.ts';
import { runnerIDOf } from '../snapshot.ts';
import { githubAccessOf } from './health.ts';

const sweepIntervalMs = 5 * 60_000;
/**
 * All pools of an installation and owner share a list. Less than the interval, so that a runner counts as offline or orphaned for the whole
 * grace period only by lists of different reads; before it is removed, it is read once more.
 */
const maxAgeMs = sweepIntervalMs / 2;
/** If two clusters have a pool of the same name, a runner of the other cluster that is about to boot looks like an orphan. */
const orphanGracePeriodMs = 10 * 60_000;

/**
 * Lists the runners at GitHub, and reads their newest release. Remembers which of them are offline, and removes those without a Pod: their
 * registration was interrupted, or they could not be removed with their Pod.
 *
 * Guarantees: removes no runner that is online, that has a job, or whose Pod exists on the server; and only one that was found so ten
 * minutes before.
 */
export const sweep = async (
  deps: PoolDeps,
  memories: PoolMemories,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  const pool = deps.pools.get(key);
  if (pool?.spec.github === undefined) return done;
  const memory = memories.of(pool);
  const service = (await githubAccessOf(deps, memory, signal)).service();
  const newest = await service?.newestRunner({ signal, maxAgeMs });
  if (newest?.kind === 'known') memory.newestRunner = newest.version;
  const listed = await service?.list({ signal, maxAgeMs });
  if (service === undefined || listed?.kind !== 'listed') return requeueAfter(sweepIntervalMs);
  const now = deps.clock.now();
  const alive = new Set(listed.runners.filter(({ isOnline, isBusy }) => isOnline || isBusy).map(({ id }) => id));
  // A runner that GitHub does not list counts as offline too.
  const offline = deps.pods
    .byIndex('pool', pool.metadata.uid)
    .flatMap((pod) => runnerIDOf(pod) ?? [])
    .filter((id) => !alive.has(id));
  memory.offlineSince = new Map(offline.map((id) => [id, memory.offlineSince.get(id) ?? now]));
  const others = listed.runners.filter(({ id }) => !alive.has(id));
  const orphans = await orphansAmong(deps, pool, others, signal);
  memory.orphanedSince = new Map(orphans.map(({ id }) => [id, memory.orphanedSince.get(id) ?? now]));
  for (const { id, name } of orphans) {
    if (now - (memory.orphanedSince.get(id) ?? now) < orphanGracePeriodMs) continue;
    deps.gate.pass();
    const removed = await removeOrphan(service, id, signal);
    deps.log.info('Removed a runner without a Pod', { pool: pool.metadata.name, name, runner: id, removed });
  }
  return requeueAfter(sweepIntervalMs);
};

/** The list may be stale, so the runner is read once more. */
const removeOrphan = async (service: RunnerService, id: number, signal: AbortSignal): Promise<string> => {
  const looked = await service.get(id, { signal });
  if (looked.kind !== 'found') return looked.kind;
  if (looked.runner.isOnline || looked.runner.isBusy) return 'came back';
  return (await service.remove(id, { signal })).kind;
};

const orphansAmong = async (
  { client }: PoolDeps,
  { metadata: { name: pool, namespace = '' } }: Live<RunnerPool>,
  runners: readonly Runner[],
  signal: AbortSignal,
): Promise<Runner[]> => {
  const orphans: Runner[] = [];
  for (const runner of runners) {
    if (!isRunnerNameOf(pool, runner.name)) continue;
    const pod = await ignoreNotFound(client.get(pods, { namespace, name: runner.name }, { signal }));
    if (pod === undefined) orphans.push(runner);
  }
  return orphans;
};
