import type { Logger } from '@tartan/kube';
import { parseReference } from '../images/reference.ts';
import type { Deletion } from './decision.ts';
import { mentionedNames } from './mentioned.ts';
import type { World } from './observe.ts';

export type Deleted = 'deleted' | 'spared' | 'failed';

/** A decision is seconds old: another delete, or a whole list, came before this one. */
const isStillDead = async (world: World, { kind, name, owned }: Deletion, signal: AbortSignal): Promise<boolean> => {
  if ((await world.ownership.of(owned)) !== 'ours') return false;
  if (kind === 'virtual machine') {
    const details = await world.tart.get(name, { signal });
    if (details !== undefined && details.state !== 'stopped') return false;
    if ((await world.openFiles.look([name], signal)).get(name) !== 'closed') return false;
  }
  // Last, as it is the one that changes fastest: a `tart run` or `tart push` that has just begun.
  const mentioned = mentionedNames(await world.processes.list(), world.tartPaths);
  return !mentioned.has(name) && !mentioned.has(owned);
};

/** Deletes it, unless it has come to life meanwhile. Whatever cannot be told means alive (INC-50). Cut anywhere, the next round goes on. */
export const act = async (world: World, deletion: Deletion, signal: AbortSignal, log: Logger): Promise<Deleted> => {
  const { name, owned, why } = deletion;
  let isGone = false;
  const remove = async (): Promise<void> => {
    if (!(await isStillDead(world, deletion, signal))) return;
    await world.tart.delete(name, { signal });
    isGone = true;
    // With its last tag an image goes as a whole, unless it was pulled by its digest.
    const image = parseReference(owned);
    const { repository = '', digest = '' } = image ?? {};
    if (deletion.kind === 'virtual machine' || !(await world.local.has({ repository, digest })))
      await world.ownership.forget(owned);
  };
  try {
    // Both names of an image: it may be held by its digest while a tag of it is deleted.
    await world.holds.whileFree(owned, async () => {
      if (name === owned) await remove();
      else await world.holds.whileFree(name, remove);
    });
  } catch (error) {
    log.warn('Could not be collected', { name, why, error });
    return isGone ? 'deleted' : 'failed';
  }
  if (isGone) log.info('Collected', { name, why });
  return isGone ? 'deleted' : 'spared';
};
