import type { Logger } from '@tartan/kube';
import { parseReference } from '../images/image-reference.ts';
import type { Deletion } from './decide.ts';
import { type GcDeps, wordsInTartCommands } from './observe.ts';

export type DeleteResult = 'deleted' | 'kept' | 'failed';

/** Checks again: since the decision, other deletions or a whole list took seconds. */
const isStillGarbage = async (
  deps: GcDeps,
  { kind, name, ownershipKey }: Deletion,
  signal: AbortSignal,
): Promise<boolean> => {
  if ((await deps.ownership.ownerOf(ownershipKey)) !== 'ours') return false;
  if (kind === 'virtual machine') {
    const details = await deps.tart.get(name, { signal });
    if (details !== undefined && details.state !== 'stopped') return false;
    if ((await deps.openFiles.check([name], signal)).get(name) !== 'closed') return false;
  }
  // Last, as this changes fastest: a `tart run` or `tart push` may just have started.
  const mentioned = wordsInTartCommands(await deps.processes.list(), deps.tartPaths);
  return !mentioned.has(name) && !mentioned.has(ownershipKey);
};

/** Deletes it unless it is in use by now. Unreadable state counts as in use (INC-50). Crash-safe: the next run continues. */
export const act = async (
  deps: GcDeps,
  deletion: Deletion,
  signal: AbortSignal,
  log: Logger,
): Promise<DeleteResult> => {
  const { name, ownershipKey, reason } = deletion;
  let isGone = false;
  const remove = async (): Promise<void> => {
    if (!(await isStillGarbage(deps, deletion, signal))) return;
    await deps.tart.delete(name, { signal });
    isGone = true;
    // Deleting the last tag deletes the whole image, unless it was pulled by digest.
    const image = parseReference(ownershipKey);
    const { repository = '', digest = '' } = image ?? {};
    if (deletion.kind === 'virtual machine' || !(await deps.local.has({ repository, digest })))
      await deps.ownership.forget(ownershipKey);
  };
  try {
    // Both names of an image: it may be held by its digest while one of its tags is deleted.
    await deps.holds.ifUnheld(ownershipKey, async () => {
      if (name === ownershipKey) await remove();
      else await deps.holds.ifUnheld(name, remove);
    });
  } catch (error) {
    log.warn('Could not be collected', { name, why: reason, error });
    return isGone ? 'deleted' : 'failed';
  }
  if (isGone) log.info('Collected', { name, why: reason });
  return isGone ? 'deleted' : 'kept';
};
