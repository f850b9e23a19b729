import { annotations, buildDetailedEvent } from '@tartan/api';
import { deleteIfUnchanged, ignoreNotFound, isKubeError, type Live, pods, serviceAccounts } from '@tartan/kube';
import type { Removal } from '../decide.ts';
import { isSettlePeriodOver } from '../limits.ts';
import { podStateOf } from '../pod-state.ts';
import type { Pod, PodFacts, ServiceAccount } from '../snapshot.ts';
import { type ActContext, leaderCallOptions } from './context.ts';
import { runnerInSecret } from './create.ts';
import { annotatePod, deletePodIfUnchanged, liveReadPod } from './pod-calls.ts';

/** Deletes the ServiceAccount of a Pod that is gone. The Pod is read live: the cache may not show a Pod that was just created. */
export const deleteServiceAccount = async (context: ActContext, account: Live<ServiceAccount>): Promise<void> => {
  const { deps, signal } = context;
  const { name, namespace = '' } = account.metadata;
  if ((await ignoreNotFound(deps.client.get(pods, { namespace, name }, { signal }))) !== undefined) return;
  try {
    await deleteIfUnchanged(deps.client, serviceAccounts, account, leaderCallOptions(context));
  } catch (error) {
    if (!isKubeError(error, 'notFound', 'conflict')) throw error;
  }
};

/**
 * Deletes a Pod in which nothing runs.
 *
 * Flow: read Pod and Node live → check again the reason for its removal → delete it, with optimistic locking.
 * Guarantees: a report of a job before the delete changes the resourceVersion, and the Pod stays.
 */
export const removePod = async (context: ActContext, seen: Live<Pod>, reason: Removal['reason']): Promise<void> => {
  const { deps, memory, service, signal } = context;
  const live = await liveReadPod(context, seen);
  if (live === undefined || !stillApplies(reason, live.facts, context)) return;
  const { pod, facts } = live;
  if (reason === 'never had a runner') {
    const runnerID = await runnerInSecret(context, pod);
    if (runnerID !== undefined) return void (await annotatePod(context, pod, { [annotations.runnerID]: runnerID }));
  }
  if (!(await deletePodIfUnchanged(context, pod))) return;
  const { name } = pod.metadata;
  deps.log.info('Removed a runner Pod', { name, reason });
  if (reason !== 'node is gone') return;
  deps.events.event(memory.pool, buildDetailedEvent('RunnerPodLost', `Pod ${name}, Node ${pod.spec?.nodeName ?? ''}.`));
  // A failure does not matter: the sweep removes it later.
  if (facts.runnerID !== undefined) await service?.remove(facts.runnerID, { signal });
};

const stillApplies = (reason: Removal['reason'], facts: PodFacts, { deps }: ActContext): boolean => {
  const state = podStateOf(facts);
  switch (reason) {
    case 'settle period over':
      return state === 'retired' && isSettlePeriodOver(facts, deps.clock.now(), deps.limits);
    case 'never had a runner':
      return state === 'unregistered';
    case 'node is gone':
      return state === 'lost';
  }
};
