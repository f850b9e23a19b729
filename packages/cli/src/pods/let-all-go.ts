import { type CallOptions, isKubeError } from '@tartan/kube';
import type { Cluster } from '../cluster/cluster.ts';
import { type Fate, letGo } from './let-go.ts';
import type { StuckPod } from './stuck-pods.ts';

/** Side by side: a cluster far away would take a minute for hundreds of Pods one by one, and eight at a time burden nobody. */
const atATime = 8;

/**
 * Lets all of them go, and tells after each how many are done. Answers one fate for each, in the same order. Where Pods may not be
 * written, the others of that namespace are not tried. A server that stops answering ends it: those that are left have failed.
 */
export const letAllGo = async (
  cluster: Cluster,
  stuck: readonly StuckPod[],
  onProgress: (done: number) => void,
  call: CallOptions & { readonly signal: AbortSignal },
): Promise<Fate[]> => {
  const forbidden = new Map<string, string>();
  let broken: string | undefined;
  let done = 0;

  const fateOf = async (each: StuckPod): Promise<Fate> => {
    const { namespace = '' } = each.pod.metadata;
    const why = call.signal.aborted ? 'stopped before its turn' : (broken ?? forbidden.get(namespace));
    if (why !== undefined) return { kind: 'failed', stuck: each, why };
    try {
      return await letGo(cluster, each.pod, call);
    } catch (error) {
      if (isKubeError(error, 'forbidden')) {
        forbidden.set(namespace, `you may not get and patch Pods in the namespace ${namespace}`);
        return { kind: 'failed', stuck: each, why: forbidden.get(namespace) ?? '' };
      }
      broken ??= call.signal.aborted ? 'stopped' : error instanceof Error ? error.message : String(error);
      return { kind: 'failed', stuck: each, why: broken };
    }
  };

  const fates: Fate[] = [];
  const queue = stuck.entries();
  const worker = async (): Promise<void> => {
    for (const [index, each] of queue) {
      fates[index] = await fateOf(each);
      done += 1;
      onProgress(done);
    }
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  return fates;
};
