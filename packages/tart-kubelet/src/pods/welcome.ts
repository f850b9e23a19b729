import { finalizers } from '@tartan/api';
import { hasFinalizer, type Live } from '@tartan/kube';
import { addFinalizer } from './act-on-server.ts';
import { type Scene } from './acted.ts';
import { isTerminal, type Pod, type Snapshot } from './snapshot.ts';
import { suitabilityOf } from './suitability.ts';

/** Nobody has said anything of it yet, and it will need the finalizer however things are on this Mac. */
const isNew = (pod: Live<Pod>): boolean =>
  pod.status?.containerStatuses === undefined &&
  pod.metadata.deletionTimestamp === undefined &&
  !isTerminal(pod) &&
  !hasFinalizer(pod, finalizers.vmCleanup) &&
  suitabilityOf(pod).kind === 'suited';

/** Of a Pod that was never here. */
const untouched = (pod: Live<Pod>, now: number): Snapshot => ({
  now,
  pod,
  record: undefined,
  vm: { kind: 'missing' },
  image: { kind: 'missing' },
  remains: { started: false, ending: { kind: 'unknown' } },
  slots: { total: 0, ofOthers: 0 },
});

/**
 * Gives a Pod that comes anew its finalizer while the Mac is looked at: both take time, and neither needs the other. Whether it worked
 * is seen by the Pod that is known afterwards; the pass does it again if not. Never rejects.
 */
export const welcome = async (scene: Omit<Scene, 'snapshot' | 'vm'>): Promise<void> => {
  const { memory, uid, world } = scene;
  const pod = memory.known.get(uid);
  if (pod === undefined || !isNew(pod)) return;
  try {
    await addFinalizer({ ...scene, vm: '', snapshot: untouched(pod, world.clock.now()) }, pod);
  } catch (error) {
    world.log.debug('A new Pod could not be given its finalizer yet', { uid, error });
  }
};
