import { annotations, buildDetailedEvent } from '@tartan/api';
import { isKubeError, type Live, pods, serviceAccounts } from '@tartan/kube';
import type { Removal } from '../decide.ts';
import { isSettlePeriodOver } from '../limits.ts';
import { podStateOf } from '../pod-state.ts';
import type { Pod, PodFacts, ServiceAccount } from '../snapshot.ts';
import { type ActContext, leaderCallOptions } from './context.ts';
import { runnerInSecret } from './create.ts';
import { annotatePod, deletePodIfUnchanged, liveReadPod } from './pod-calls.ts';

/** Deletes the ServiceAccount of a Pod that is gone. By the word of the server: the cache may not show a Pod that was just made. */
export const deleteServiceAccount = async (
  context: ActContext,
  { metadata: { name, namespace = '', uid, resourceVersion } }: Live<ServiceAccount>,
): Promise<void> => {
  const { client } = context.deps;
  try {
    await client.get(pods, { namespace, name }, { signal: context.signal });
    return;
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
  }
  const options = { ...leaderCallOptions(context), preconditions: { uid, resourceVersion } };
  try {
    await client.delete(serviceAccounts, { namespace, name }, options);
  } catch (error) {
    if (!isKubeError(error, 'notFound', 'conflict')) throw error;
  }
};

/**
 * Deletes a Pod in which nothing runs.
 *
 * Flow: Pod and Node by the word of the server → judged again by the rules that chose it → deleted in that very version.
 * Guarantees: a job that shows itself before the delete arrives makes another version, and stays.
 */
export const removePod = async (context: ActContext, seen: Live<Pod>, because: Removal['because']): Promise<void> => {
  const { deps, memory, service, signal } = context;
  const live = await liveReadPod(context, seen);
  if (live === undefined || !stillApplies(because, live.facts, context)) return;
  const { pod, facts } = live;
  if (because === 'never had a runner') {
    const runnerID = await runnerInSecret(context, pod);
    if (runnerID !== undefined) return void (await annotatePod(context, pod, { [annotations.runnerID]: runnerID }));
  }
  if (!(await deletePodIfUnchanged(context, pod))) return;
  const { name } = pod.metadata;
  deps.log.info('Removed a runner Pod', { name, because });
  if (because !== 'node is gone') return;
  deps.events.event(memory.pool, buildDetailedEvent('RunnerPodLost', `Pod ${name}, Node ${pod.spec?.nodeName ?? ''}.`));
  // Whatever GitHub says: the sweep looks again.
  if (facts.runnerID !== undefined) await service?.remove(facts.runnerID, { signal });
};

const stillApplies = (because: Removal['because'], facts: PodFacts, { deps }: ActContext): boolean => {
  const state = podStateOf(facts);
  switch (because) {
    case 'settle period over':
      return state === 'retired' && isSettlePeriodOver(facts, deps.clock.now(), deps.limits);
    case 'never had a runner':
      return state === 'unregistered';
    case 'node is gone':
      return state === 'lost';
  }
};
