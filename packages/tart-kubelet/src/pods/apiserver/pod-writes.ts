import { finalizers } from '@tartan/api';
import { hasFinalizer, isKubeError, type Live, pods } from '@tartan/kube';
import { type ActionContext, type ActionResult, changed, done, observeAgain } from '../context.ts';
import type { Decision } from '../decide.ts';
import type { Pod, PodStatus } from '../snapshot.ts';
import { statusFor } from '../status.ts';
import { getLivePod, identityOf } from './pod-cache.ts';

const vmCleanup = finalizers.vmCleanup;

const nameOf = ({ metadata: { name, namespace = '' } }: Live<Pod>) => ({ name, namespace });

/**
 * A Node may not write to its Pods, but to their status, and the server keeps the finalizers of such a write. Guarded by
 * the version: those of others stay.
 */
const setFinalizers = async (
  context: ActionContext,
  pod: Live<Pod>,
  wanted: readonly string[],
  status?: PodStatus,
): Promise<ActionResult> => {
  const { memory, signal, deps } = context;
  const metadata = { resourceVersion: pod.metadata.resourceVersion, finalizers: wanted };
  const body = { metadata, ...(status !== undefined && { status }) };
  try {
    const written = await deps.client.patch(
      pods,
      nameOf(pod),
      { type: 'merge', body },
      { signal, subresource: 'status' },
    );
    memory.podCache.applyWrite(written);
    const known = memory.podCache.get(context.uid);
    // The watch was faster, and has told that it is gone.
    return known === undefined ? observeAgain : changed({ pod: known });
  } catch (error) {
    if (isKubeError(error, 'notFound')) return markNotFound(context);
    if (isKubeError(error, 'conflict')) return refreshCache(context, pod);
    throw error;
  }
};

/** Somebody else wrote to it. The watch will tell, but may be behind. */
const refreshCache = async ({ memory, signal, uid, deps }: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const found = await getLivePod(deps.client, deps.nodeName, identityOf(pod), signal);
  if (found === undefined) memory.podCache.markNotFound(uid);
  else memory.podCache.applyLiveRead(found);
  return observeAgain;
};

const markNotFound = ({ memory, uid }: ActionContext): ActionResult => {
  memory.podCache.markNotFound(uid);
  return observeAgain;
};

/** With the first status in the same write. */
export const addFinalizer = (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const wanted = [...(pod.metadata.finalizers ?? []), vmCleanup];
  return setFinalizers(context, pod, wanted, statusFor(context, { kind: 'add finalizer' })(pod));
};

export const removeFinalizer = (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> =>
  hasFinalizer(pod, vmCleanup)
    ? setFinalizers(context, pod, pod.metadata.finalizers?.filter((one) => one !== vmCleanup) ?? [])
    : Promise.resolve(observeAgain);

/** As a kubelet confirms that everything is gone: without it the Pod stays for ever (INC-14). */
export const deletePod = async (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const { memory, signal, uid, deps } = context;
  try {
    const left = await deps.client.delete(pods, nameOf(pod), {
      gracePeriodSeconds: 0,
      preconditions: { uid },
      signal,
    });
    if (left === undefined) return markNotFound(context);
    memory.podCache.applyWrite(left);
  } catch (error) {
    if (isKubeError(error, 'notFound')) return markNotFound(context);
    if (!isKubeError(error, 'conflict')) throw error;
    // Another Pod may have its name by now.
    await refreshCache(context, pod);
    if (memory.podCache.get(uid) === undefined) return observeAgain;
  }
  // Others may hold it by finalizers of their own; the watch tells when it is gone.
  return done;
};

/** What others must know before anything else happens: an end, above all (INC-18). */
export const writeStatusNow = async (context: ActionContext, decision: Decision): Promise<ActionResult> => {
  const { memory, signal, uid } = context;
  const published = await memory.statusManager.writeNow(uid, statusFor(context, decision), signal);
  if (published === 'gone') return markNotFound(context);
  if (published === 'refused') {
    memory.statusRefused.add(uid);
    return changed({ statusRefused: true });
  }
  return observeAgain;
};
