import { finalizers } from '@tartan/api';
import { type CallOptions, type Client, isKubeError, type Live, pods } from '@tartan/kube';
import type { Pod } from './observe.ts';

export type Removal =
  /** As the server has stored it. Others may still hold it. */
  | { kind: 'removed'; pod: Live<Pod> }
  | { kind: 'gone' }
  /** Somebody has written the Pod since it was read: look at what it is now. */
  | { kind: 'changed' };

/**
 * Takes the agent's finalizer from a Pod, and nothing else. The patch holds UID and resource version of the Pod that was judged, so it
 * meets no other Pod and no other state of it; finalizers of others stay.
 */
export const removeVMCleanup = async (
  client: Pick<Client, 'patch'>,
  pod: Live<Pod>,
  options: CallOptions,
): Promise<Removal> => {
  const { name, namespace = '', uid, resourceVersion } = pod.metadata;
  const others = (pod.metadata.finalizers ?? []).filter((finalizer) => finalizer !== finalizers.vmCleanup);
  const body = { metadata: { uid, resourceVersion, finalizers: others } };
  try {
    return { kind: 'removed', pod: await client.patch(pods, { name, namespace }, { type: 'merge', body }, options) };
  } catch (error) {
    if (isKubeError(error, 'notFound')) return { kind: 'gone' };
    if (isKubeError(error, 'conflict')) return { kind: 'changed' };
    throw error;
  }
};
