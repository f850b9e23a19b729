import { finalizers } from '@tartan/api';
import { hasFinalizer, isKubeError, type Live, pods } from '@tartan/kube';
import { type Acted, changed, lookAgain, rest, type Scene } from './acted.ts';
import type { Decision } from './decision.ts';
import { findPod, identityOf } from './find-pod.ts';
import { statusFor } from './status-for.ts';
import type { Pod, PodStatus } from './snapshot.ts';

const vmCleanup = finalizers.vmCleanup;

const nameOf = ({ metadata: { name, namespace = '' } }: Live<Pod>) => ({ name, namespace });

/**
 * A Node may not write to its Pods, but to their status, and the server keeps the finalizers of such a write (measured.md). Guarded by
 * the version: those of others stay.
 */
const setFinalizers = async (
  scene: Scene,
  pod: Live<Pod>,
  wanted: readonly string[],
  status?: PodStatus,
): Promise<Acted> => {
  const { memory, signal, world } = scene;
  const metadata = { resourceVersion: pod.metadata.resourceVersion, finalizers: wanted };
  const body = { metadata, ...(status !== undefined && { status }) };
  try {
    const written = await world.client.patch(
      pods,
      nameOf(pod),
      { type: 'merge', body },
      { signal, subresource: 'status' },
    );
    memory.known.written(written);
    const known = memory.known.get(scene.uid);
    // The watch was faster, and has told that it is gone.
    return known === undefined ? lookAgain : changed({ pod: known });
  } catch (error) {
    if (isKubeError(error, 'notFound')) return gone(scene);
    if (isKubeError(error, 'conflict')) return refresh(scene, pod);
    throw error;
  }
};

/** Somebody else wrote to it. The watch will tell, but may be behind. */
const refresh = async ({ memory, signal, uid, world }: Scene, pod: Live<Pod>): Promise<Acted> => {
  const found = await findPod(world.client, world.nodeName, identityOf(pod), signal);
  if (found === undefined) memory.known.notFound(uid);
  else memory.known.read(found);
  return lookAgain;
};

const gone = ({ memory, uid }: Scene): Acted => {
  memory.known.notFound(uid);
  return lookAgain;
};

/** With the status in the same write, and before any other: of two at once one would be refused, and cost two more. */
export const askForFinalizer = (scene: Scene, pod: Live<Pod>): Acted => {
  const { memory, uid } = scene;
  const wanted = [...(pod.metadata.finalizers ?? []), vmCleanup];
  const answer = setFinalizers(scene, pod, wanted, statusFor(scene, { kind: 'add finalizer' })(pod));
  // Whoever awaits it hears of it.
  answer.catch(() => {});
  memory.finalizerAnswers.set(uid, answer);
  memory.publisher.holdBack(uid, answer);
  return changed({ finalizerAsked: true });
};

export const awaitFinalizer = async ({ memory, uid }: Scene): Promise<Acted> => {
  const answer = memory.finalizerAnswers.get(uid);
  memory.finalizerAnswers.delete(uid);
  const acted = (await answer) ?? lookAgain;
  return acted.kind === 'changed' ? changed({ ...acted.facts, finalizerAsked: false }) : acted;
};

export const removeFinalizer = (scene: Scene, pod: Live<Pod>): Promise<Acted> =>
  hasFinalizer(pod, vmCleanup)
    ? setFinalizers(scene, pod, pod.metadata.finalizers?.filter((one) => one !== vmCleanup) ?? [])
    : Promise.resolve(lookAgain);

/** As a kubelet confirms that everything is gone: without it the Pod stays for ever (INC-14). */
export const deletePod = async (scene: Scene, pod: Live<Pod>): Promise<Acted> => {
  const { memory, signal, uid, world } = scene;
  try {
    const left = await world.client.delete(pods, nameOf(pod), {
      gracePeriodSeconds: 0,
      preconditions: { uid },
      signal,
    });
    if (left === undefined) return gone(scene);
    memory.known.written(left);
  } catch (error) {
    if (isKubeError(error, 'notFound')) return gone(scene);
    if (!isKubeError(error, 'conflict')) throw error;
    // Another Pod may have its name by now.
    await refresh(scene, pod);
    if (memory.known.get(uid) === undefined) return lookAgain;
  }
  // Others may hold it by finalizers of their own; the watch tells when it is gone.
  return rest;
};

/** What others must know before anything else happens: an end, above all (G6). */
export const publishNow = async (scene: Scene, decision: Decision): Promise<Acted> => {
  const { memory, signal, uid } = scene;
  const published = await memory.publisher.write(uid, statusFor(scene, decision), signal);
  if (published === 'gone') return gone(scene);
  if (published === 'refused') {
    memory.refused.add(uid);
    return changed({ statusRefused: true });
  }
  return lookAgain;
};
