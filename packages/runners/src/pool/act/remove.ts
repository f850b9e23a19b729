import { annotations } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { standingOf } from '../classify.ts';
import { happening } from '../happenings.ts';
import type { Pod } from '../objects.ts';
import type { Removal } from '../plan.ts';
import { hasSettled } from '../settled.ts';
import type { PodFacts } from '../snapshot.ts';
import type { Act } from './act.ts';
import { deleteAsSeen } from './delete-as-seen.ts';
import { lookAfresh } from './look-afresh.ts';
import { mark } from './mark.ts';
import { runnerInSecret } from './register.ts';

/**
 * Deletes a Pod in which nothing runs.
 *
 * Flow: Pod and Node by the word of the server → judged again by the rules that chose it → deleted in that very version.
 * Guarantees: a job that shows itself before the delete arrives makes another version, and stays.
 */
export const remove = async (act: Act, seen: Live<Pod>, because: Removal['because']): Promise<void> => {
  const { world, memory, service, signal } = act;
  const fresh = await lookAfresh(act, seen);
  if (fresh === undefined || !stillHolds(because, fresh.facts, act)) return;
  const { pod, facts } = fresh;
  if (because === 'never had a runner') {
    const runnerID = await runnerInSecret(act, pod);
    if (runnerID !== undefined) return void (await mark(act, pod, { [annotations.runnerID]: runnerID }));
  }
  if (!(await deleteAsSeen(act, pod))) return;
  const { name } = pod.metadata;
  world.log.info('Removed a runner Pod', { name, because });
  if (because !== 'node is gone') return;
  world.events.event(memory.pool, happening('RunnerPodLost', `Pod ${name}, Node ${pod.spec?.nodeName ?? ''}.`));
  // Whatever GitHub says: the sweep looks again.
  if (facts.runnerID !== undefined) await service?.remove(facts.runnerID, { signal });
};

const stillHolds = (because: Removal['because'], facts: PodFacts, { world }: Act): boolean => {
  const standing = standingOf(facts);
  switch (because) {
    case 'settled':
      return standing === 'retired' && hasSettled(facts, world.clock.now(), world.limits);
    case 'never had a runner':
      return standing === 'bare';
    case 'node is gone':
      return standing === 'lost';
  }
};
