import type { PodWaitReason } from '@tartan/api';
import type { VmRecord } from '../journal/record.ts';
import type { Memory } from './memory.ts';
import type { Sight } from './observe.ts';
import type { Snapshot } from './snapshot.ts';
import type { PodWorld } from './world.ts';

/** What an act came to. */
export type Acted =
  /** These are facts now: the pass goes on with them, without another look at the world. */
  | { readonly kind: 'changed'; readonly facts: Partial<Snapshot> }
  /** More may have changed than we know. */
  | { readonly kind: 'look again' }
  /** Nothing to do before something changes, or before then. */
  | { readonly kind: 'rest'; readonly until?: number | undefined }
  /** It did not work, and is held back for a while. The reason is the container's. */
  | { readonly kind: 'failed'; readonly reason: PodWaitReason; readonly message: string };

/** One Pod, and all that its acts touch. */
export interface Scene extends Sight {
  readonly world: PodWorld;
  readonly memory: Memory;
  readonly signal: AbortSignal;
}

export const rest: Acted = { kind: 'rest' };
export const lookAgain: Acted = { kind: 'look again' };
export const changed = (facts: Partial<Snapshot>): Acted => ({ kind: 'changed', facts });

/** What tart, the disk or the session refused. */
export const failed = (
  error: unknown,
  reason: PodWaitReason = 'TartCreateFailed',
): Extract<Acted, { kind: 'failed' }> => ({
  kind: 'failed',
  reason,
  message: error instanceof Error ? error.message : String(error),
});

/** The record that there is, or the first one for this Pod. */
export const recordOf = ({ uid, vm, world, snapshot: { pod, record } }: Scene): VmRecord => {
  if (typeof record === 'object') return record;
  const named = 'metadata' in pod ? pod : undefined;
  const { name = 'unknown', namespace = 'unknown' } = named?.metadata ?? {};
  return {
    version: 1,
    vm,
    pod: { uid, namespace, name },
    image: { reference: named?.spec?.containers[0]?.image ?? '' },
    createdAt: world.clock.now(),
    // Of a run that the journal has lost the server may know.
    run: named?.status?.containerStatuses?.[0]?.restartCount ?? 0,
    state: { kind: 'cloning' },
  };
};

/** Into the journal, before the act that it speaks of. */
export const writeRecord = async (scene: Scene, change: Partial<VmRecord>): Promise<VmRecord> => {
  const record = { ...recordOf(scene), ...change };
  await scene.world.journal.write(record);
  return record;
};
