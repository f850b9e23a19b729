import { isKubeError, type Live, pods } from '@tartan/kube';
import { liveReadNode } from '../observe.ts';
import { type Pod, podFacts, type PodFacts } from '../snapshot.ts';
import { type ActContext, leaderCallOptions } from './context.ts';

interface PodLiveRead {
  readonly pod: Live<Pod>;
  readonly facts: PodFacts;
}

/** The Pod and its Node, read from the server. Undefined: the Pod is gone. */
export const liveReadPod = async (
  { deps, memory, signal }: Pick<ActContext, 'deps' | 'memory' | 'signal'>,
  { metadata: { name, namespace = '', uid } }: Live<Pod>,
): Promise<PodLiveRead | undefined> => {
  try {
    const pod = await deps.client.get(pods, { namespace, name }, { signal });
    if (pod.metadata.uid === uid) {
      const node = await liveReadNode(deps.client, pod, signal);
      return { pod, facts: podFacts(pod, memory.pool.spec.image, node, memory.offlineSince) };
    }
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
  }
  memory.mutations.deleted(uid);
  return undefined;
};

/**
 * Writes an annotation onto this very Pod, and onto no other of its name. Not bound to its version: agents write Pods often, and what is
 * said here does not depend on what they say. `gone`: there is no such Pod any more.
 */
export const annotatePod = async (
  context: ActContext,
  { metadata: { name, namespace = '', uid } }: Live<Pod>,
  annotations: Readonly<Record<string, string>>,
): Promise<'annotated' | 'gone'> => {
  const patch = { type: 'merge', body: { metadata: { uid, annotations } } } as const;
  try {
    context.memory.mutations.updated(
      await context.deps.client.patch(pods, { namespace, name }, patch, leaderCallOptions(context)),
    );
    return 'annotated';
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
    context.memory.mutations.deleted(uid);
    return 'gone';
  }
};

/** False: it was gone, or has changed meanwhile. Then the next pass decides anew. */
export const deleteIfUnchanged = async (context: ActContext, pod: Live<Pod>): Promise<boolean> => {
  const { name, namespace = '', uid, resourceVersion } = pod.metadata;
  const { mutations } = context.memory;
  const options = { ...leaderCallOptions(context), preconditions: { uid, resourceVersion } };
  try {
    const left = await context.deps.client.delete(pods, { namespace, name }, options);
    if (left === undefined) mutations.deleted(uid);
    else mutations.updated(left);
    return true;
  } catch (error) {
    if (isKubeError(error, 'notFound')) mutations.deleted(uid);
    else if (!isKubeError(error, 'conflict')) throw error;
    return false;
  }
};
