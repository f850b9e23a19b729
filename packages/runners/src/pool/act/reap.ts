import { runnerPool } from '@tartan/api';
import { type Live, patchStatus } from '@tartan/kube';
import { runnerIDOf } from '../facts.ts';
import { recordFinished } from '../finished.ts';
import { finishedPodOf, resultOf, secondsOf } from '../finished-pod.ts';
import { happening } from '../happenings.ts';
import type { Pod } from '../objects.ts';
import { type Act, whileLeading } from './act.ts';
import { deleteAsSeen } from './delete-as-seen.ts';
import type { Turns } from './in-turns.ts';

/**
 * Takes Pods away that have ended.
 *
 * Flow: all are recorded in the status, in one write; then each is forgotten at GitHub and deleted.
 * Guarantees: whatever is deleted has been recorded before, and is counted once, however often this is begun again.
 * Assumptions: no more Pods at a time than the status holds.
 */
export const reap = async (act: Act, turns: Turns, ended: readonly Live<Pod>[]): Promise<void> => {
  if (ended.length === 0) return;
  const isRecorded = await turns.take(() => record(act, ended));
  if (isRecorded) await Promise.all(ended.map((pod) => turns.take(() => reapOne(act, pod))));
};

const record = async (act: Act, ended: readonly Live<Pod>[]): Promise<true> => {
  const { memory, world } = act;
  const { status = { observedGeneration: -1 } } = memory.pool;
  const next = { ...status, ...recordFinished(status, ended.map(finishedPodOf)) };
  memory.pool = await patchStatus(world.client, runnerPool.resource, memory.pool, next, whileLeading(act));
  return true;
};

const reapOne = async (act: Act, pod: Live<Pod>): Promise<void> => {
  const { world, memory, service, signal } = act;
  const { namespace = '' } = pod.metadata;
  const runner = runnerIDOf(pod);
  world.gate.pass();
  // One that had a job is gone already. What GitHub does not do now, the sweep finds.
  if (runner !== undefined) await service?.remove(runner, { signal });
  if (!(await deleteAsSeen(act, pod))) return;
  const result = resultOf(pod);
  const finished = finishedPodOf(pod);
  world.log.info('Reaped a runner Pod', { namespace, runner, result, ...finished });
  world.events.event(
    memory.pool,
    happening(result === 'failed' ? 'RunnerPodFailed' : 'RunnerPodFinished', storyOf(finished)),
  );
  const pool = { namespace, name: memory.pool.metadata.name };
  world.poolMetrics.reaped(pool, result);
  const seconds = secondsOf(finished);
  if (seconds !== undefined) world.poolMetrics.ran(pool, result, seconds);
};

const storyOf = ({ name, node, hadJob, exitCode, reason }: ReturnType<typeof finishedPodOf>): string => {
  const how = [
    hadJob === undefined ? undefined : hadJob ? 'with a job' : 'without a job',
    reason,
    exitCode === undefined ? undefined : `exit code ${exitCode}`,
  ].filter((part) => part !== undefined);
  return `Pod ${name} on ${node ?? 'no Node'}${how.length === 0 ? '' : `: ${how.join(', ')}`}.`;
};
