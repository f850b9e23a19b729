import { finalizers } from '@tartan/api';
import { hasFinalizer, isKubeError, type Live, pods } from '@tartan/kube';
import { type ActionContext, type ActionResult, changed, done, observeAgain } from '../context.ts';
import type { Decision } from '../decide.ts';
import type { Pod, PodStatus } from '../snapshot.ts';
import { statusFor } from '../status.ts';
import { refreshCache } from './pod-cache.ts';

const vmCleanup = finalizers.vmCleanup;

const nameOf = ({ metadata: { name, namespace = '' } }: Live<Pod>) => ({ name, namespace });

/**
 * A Node may write only the status of its Pods, and the server accepts finalizers in such a write. The resource version
 * (optimistic lock) protects the finalizers of others.
 */
const setFinalizers = async (
  context: ActionContext,
  pod: Live<Pod>,
  wanted: readonly string[],
  status?: PodStatus,
): Promise<ActionResult> => {
  const { podCache, signal, deps } = context;
  const metadata = { resourceVersion: pod.metadata.resourceVersion, finalizers: wanted };
  const body = { metadata, ...(status !== undefined && { status }) };
  try {
    const written = await deps.client.patch(
      pods,
      nameOf(pod),
      { type: 'merge', body },
      { signal, subresource: 'status' },
    );
    podCache.applyWrite(written);
    const known = podCache.get(context.uid);
    // The watch has already removed the Pod.
    return known === undefined ? observeAgain : changed({ pod: known });
  } catch (error) {
    if (isKubeError(error, 'notFound')) return markNotFound(context);
    if (!isKubeError(error, 'conflict')) throw error;
    await refreshCache(deps.client, deps.nodeName, podCache, pod, signal);
    return observeAgain;
  }
};

const markNotFound = ({ podCache, uid }: ActionContext): ActionResult => {
  podCache.markNotFound(uid);
  return observeAgain;
};

/** Writes the first status together with the finalizer. */
export const addFinalizer = (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const wanted = [...(pod.metadata.finalizers ?? []), vmCleanup];
  return setFinalizers(context, pod, wanted, statusFor(context, { kind: 'add finalizer' })(pod));
};

export const removeFinalizer = (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> =>
  hasFinalizer(pod, vmCleanup)
    ? setFinalizers(context, pod, pod.metadata.finalizers?.filter((one) => one !== vmCleanup) ?? [])
    : Promise.resolve(observeAgain);

/** Deletes the Pod with no grace period, as the kubelet does after the cleanup: otherwise the Pod stays forever (INC-14). */
export const deletePod = async (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const { podCache, signal, uid, deps } = context;
  try {
    const left = await deps.client.delete(pods, nameOf(pod), {
      gracePeriodSeconds: 0,
      preconditions: { uid },
      signal,
    });
    if (left === undefined) return markNotFound(context);
    podCache.applyWrite(left);
  } catch (error) {
    if (isKubeError(error, 'notFound')) return markNotFound(context);
    if (!isKubeError(error, 'conflict')) throw error;
    // Another Pod may have its name by now.
    await refreshCache(deps.client, deps.nodeName, podCache, pod, signal);
    if (podCache.get(uid) === undefined) return observeAgain;
  }
  // Other finalizers may still hold it; the watch reports its deletion.
  return done;
};

/** Writes a status before anything else happens: mainly the final one (INC-18). */
export const writeStatusNow = async (context: ActionContext, decision: Decision): Promise<ActionResult> => {
  const { signal, worker } = context;
  const result = await worker.status.writeNow(statusFor(context, decision), signal);
  if (result !== 'refused') return observeAgain;
  worker.statusRefused = true;
  return changed({ statusRefused: true });
};
