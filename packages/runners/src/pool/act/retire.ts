import { annotations, buildDetailedEvent } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { RetireReason } from '../decide.ts';
import { isSilent, podStateOf } from '../pod-state.ts';
import type { Pod } from '../snapshot.ts';
import type { ActContext } from './context.ts';
import { annotatePod, liveReadPod } from './pod-calls.ts';

/**
 * Removes a runner without a job at GitHub, and annotates its Pod with the time.
 *
 * Flow: read the Pod live → GET the runner → DELETE the runner → annotate the Pod.
 * Guarantees: deletes only the registration, and only if guest and GitHub both report no job; for a guest that never reported, only if
 * GitHub shows the runner as offline. May be interrupted after any step: the next pass finds no runner, and goes on to the annotation.
 */
export const retire = async (context: ActContext, seen: Live<Pod>, reason: RetireReason): Promise<void> => {
  const { deps, memory, service, signal } = context;
  if (service === undefined) return;
  const live = await liveReadPod(context, seen);
  const mustBeOffline = reason === 'runner is offline';
  if (live === undefined || !(podStateOf(live.facts) === 'idle' || (mustBeOffline && isSilent(live.facts)))) return;
  const { pod, facts } = live;
  const runnerID = facts.runnerID ?? 0;
  const looked = await service.get(runnerID, { signal });
  if (looked.kind === 'problem' || (looked.kind === 'found' && looked.runner.isBusy)) return;
  // A user may have removed an unknown runner at GitHub during its job. It counts as offline only if it has been missing for long.
  const isOffline = looked.kind === 'found' ? !looked.runner.isOnline : mustBeOffline;
  if (mustBeOffline && !isOffline) return;
  deps.gate.pass();
  const removed = await service.remove(runnerID, { signal });
  if (removed.kind !== 'removed' && removed.kind !== 'none') return;
  const outcome = await annotatePod(context, pod, {
    [annotations.runnerRetired]: timestamp(deps.clock.now()),
    ...(isOffline && { [annotations.runnerRetiredOffline]: 'true' }),
  });
  if (outcome === 'gone') return;
  if (mustBeOffline) deps.poolMetrics.unreachable(memory.pool.metadata);
  const { name } = pod.metadata;
  deps.log.info('Retired a runner', { name, runner: runnerID, reason });
  const eventReason = reason === 'node drains' ? 'RunnerPodRetiredForNodeDrain' : 'RunnerPodRetired';
  deps.events.event(memory.pool, buildDetailedEvent(eventReason, `Pod ${name} (${reason}).`));
};
