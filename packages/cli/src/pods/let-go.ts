import { type CallOptions, isKubeError, type Live, pods } from '@tartan/kube';
import { type Pod, removeVMCleanup } from '@tartan/provider/pods';
import type { Cluster } from '../cluster/cluster.ts';
import { judged, nodeState, type StuckPod } from './stuck-pods.ts';

/** What became of a stuck Pod. */
export type Fate =
  | { readonly kind: 'would let go'; readonly stuck: StuckPod }
  /** `heldBy`: finalizers of others, for which the Pod still waits. */
  | { readonly kind: 'let go'; readonly stuck: StuckPod; readonly heldBy: readonly string[] }
  /** Nothing was left to do: the Pod is gone, or its agent was faster. */
  | { readonly kind: 'went by itself'; readonly stuck: StuckPod }
  | { readonly kind: 'left'; readonly stuck: StuckPod }
  | { readonly kind: 'failed'; readonly stuck: StuckPod; readonly why: string };

/** Somebody who writes a Pod all the time looks after it. */
const tries = 3;

/**
 * Lets one Pod go, if that is still right: its Node is asked for right before the write, and the write meets the very Pod that was
 * judged. A Pod that has changed is read and judged anew. Rejects when the server does not answer.
 */
export const letGo = async (cluster: Cluster, first: Live<Pod>, call: CallOptions): Promise<Fate> => {
  let pod = first;
  for (let attempt = 1; ; attempt += 1) {
    const stuck = judged(cluster, pod, await nodeState(cluster, pod.spec?.nodeName, call));
    if (stuck.decision.kind !== 'release') return { kind: isOver(stuck) ? 'went by itself' : 'left', stuck };
    const removal = await removeVMCleanup(cluster.client, pod, call);
    if (removal.kind === 'gone') return { kind: 'went by itself', stuck };
    if (removal.kind === 'removed') return { kind: 'let go', stuck, heldBy: removal.pod.metadata.finalizers ?? [] };
    if (attempt === tries)
      return { kind: 'failed', stuck, why: `somebody else wrote it ${tries} times meanwhile; run it again` };
    const now = await reread(cluster, pod, call);
    if (now === undefined) return { kind: 'went by itself', stuck };
    pod = now;
  }
};

/** There is nothing left to let go of. */
const isOver = ({ decision }: StuckPod): boolean => decision.kind === 'leave' && decision.because !== 'nodeExists';

/** The same Pod as it is now; undefined when it is gone, also when another one has its name. */
const reread = async ({ client }: Cluster, pod: Live<Pod>, call: CallOptions): Promise<Live<Pod> | undefined> => {
  const { name, namespace = '', uid } = pod.metadata;
  try {
    const now = await client.get(pods, { name, namespace }, call);
    return now.metadata.uid === uid ? now : undefined;
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};
