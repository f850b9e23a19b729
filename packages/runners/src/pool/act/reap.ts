import { buildDetailedEvent, runnerPool } from '@tartan/api';
import { type Live, patchStatus } from '@tartan/kube';
import type { Limiter } from '../act.ts';
import { type Pod, runnerIDOf } from '../snapshot.ts';
import { finishedPodOf, recordFinished, resultOf, secondsOf } from '../status/finished-pods.ts';
import { type ActContext, leaderCallOptions } from './context.ts';
import { deletePodIfUnchanged } from './pod-calls.ts';

/**
 * Deletes Pods that have ended.
 *
 * Flow: record all in the status, in one write; then remove each runner at GitHub and delete its Pod.
 * Guarantees: a deleted Pod has been recorded before, and is counted once, also after a crash.
 * Assumptions: no more Pods at a time than the status holds.
 */
export const reap = async (context: ActContext, limiter: Limiter, ended: readonly Live<Pod>[]): Promise<void> => {
  if (ended.length === 0) return;
  const isRecorded = await limiter.run(() => recordInStatus(context, ended));
  if (isRecorded) await Promise.all(ended.map((pod) => limiter.run(() => reapOne(context, pod))));
};

const recordInStatus = async (context: ActContext, ended: readonly Live<Pod>[]): Promise<true> => {
  const { memory, deps } = context;
  const { status = { observedGeneration: -1 } } = memory.pool;
  const next = { ...status, ...recordFinished(status, ended.map(finishedPodOf)) };
  memory.pool = await patchStatus(deps.client, runnerPool.resource, memory.pool, next, leaderCallOptions(context));
  return true;
};

const reapOne = async (context: ActContext, pod: Live<Pod>): Promise<void> => {
  const { deps, memory, service, signal } = context;
  const { namespace = '' } = pod.metadata;
  const runner = runnerIDOf(pod);
  deps.gate.pass();
  // GitHub has removed a runner that had a job. If this fails, the sweep does it.
  if (runner !== undefined) await service?.remove(runner, { signal });
  if (!(await deletePodIfUnchanged(context, pod))) return;
  const result = resultOf(pod);
  const finished = finishedPodOf(pod);
  deps.log.info('Reaped a runner Pod', { namespace, runner, result, ...finished });
  deps.events.event(
    memory.pool,
    buildDetailedEvent(result === 'failed' ? 'RunnerPodFailed' : 'RunnerPodFinished', describeFinished(finished)),
  );
  deps.poolMetrics.reaped(memory.pool.metadata, result, secondsOf(finished));
};

const describeFinished = ({ name, node, hadJob, exitCode, reason }: ReturnType<typeof finishedPodOf>): string => {
  const how = [
    hadJob === undefined ? undefined : hadJob ? 'with a job' : 'without a job',
    reason,
    exitCode === undefined ? undefined : `exit code ${exitCode}`,
  ].filter((part) => part !== undefined);
  return `Pod ${name} on ${node ?? 'no Node'}${how.length === 0 ? '' : `: ${how.join(', ')}`}.`;
};
