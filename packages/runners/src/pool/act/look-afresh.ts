import { isKubeError, type Live, pods } from '@tartan/kube';
import { podFacts, unbound } from '../facts.ts';
import { lookAtNode } from '../observe.ts';
import type { Pod } from '../objects.ts';
import type { PodFacts } from '../snapshot.ts';
import type { Act } from './act.ts';

export interface FreshPod {
  readonly pod: Live<Pod>;
  readonly facts: PodFacts;
}

/** The Pod and its Node by the word of the server. Undefined: it is gone. */
export const lookAfresh = async (
  { world, memory, signal }: Pick<Act, 'world' | 'memory' | 'signal'>,
  { metadata: { name, namespace = '', uid } }: Live<Pod>,
): Promise<FreshPod | undefined> => {
  try {
    const pod = await world.client.get(pods, { namespace, name }, { signal });
    if (pod.metadata.uid === uid) {
      const nodeName = pod.spec?.nodeName;
      const node = nodeName === undefined ? unbound(pod) : await lookAtNode(world.client, nodeName, signal);
      return { pod, facts: podFacts(pod, memory.pool.spec.image, node, memory.offline) };
    }
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
  }
  memory.pods.gone(uid);
  return undefined;
};
