import { annotations } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { isSilent, standingOf } from '../classify.ts';
import { happening } from '../happenings.ts';
import type { Pod } from '../objects.ts';
import type { RetireReason } from '../plan.ts';
import type { Act } from './act.ts';
import { lookAfresh } from './look-afresh.ts';
import { mark } from './mark.ts';

/**
 * Asks GitHub to forget a runner that has no job, and notes when it did.
 *
 * Flow: the Pod, by the word of the server → GET of the runner → DELETE of the runner → annotation.
 * Guarantees: nothing is deleted here but a registration, and only if the guest and GitHub both say that there is no job; of a guest that
 * never spoke, only if GitHub shows no listener there. May end after any step: whoever comes next finds no runner, and goes on to the annotation.
 */
export const retire = async (act: Act, seen: Live<Pod>, because: RetireReason): Promise<void> => {
  const { world, memory, service, signal } = act;
  if (service === undefined) return;
  const fresh = await lookAfresh(act, seen);
  const mustBeOffline = because === 'runner is offline';
  if (fresh === undefined || !(standingOf(fresh.facts) === 'idle' || (mustBeOffline && isSilent(fresh.facts)))) return;
  const { pod, facts } = fresh;
  const runnerID = facts.runnerID ?? 0;
  const looked = await service.get(runnerID, { signal });
  if (looked.kind === 'problem' || (looked.kind === 'found' && looked.runner.isBusy)) return;
  // One that GitHub does not know may have been removed by a person during its job, unless it has been so for long.
  const isOffline = looked.kind === 'found' ? !looked.runner.isOnline : mustBeOffline;
  if (mustBeOffline && !isOffline) return;
  world.gate.pass();
  const removed = await service.remove(runnerID, { signal });
  if (removed.kind !== 'removed' && removed.kind !== 'none') return;
  const outcome = await mark(act, pod, {
    [annotations.runnerRetired]: timestamp(world.clock.now()),
    ...(isOffline && { [annotations.runnerRetiredOffline]: 'true' }),
  });
  if (outcome === 'gone') return;
  if (mustBeOffline) world.poolMetrics.unreachable(memory.pool.metadata);
  const { name } = pod.metadata;
  world.log.info('Retired a runner', { name, runner: runnerID, because });
  const reason = because === 'node drains' ? 'RunnerPodRetiredForNodeDrain' : 'RunnerPodRetired';
  world.events.event(memory.pool, happening(reason, `Pod ${name} (${because}).`));
};
