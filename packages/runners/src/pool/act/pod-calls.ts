import { deleteIfUnchanged, ignoreNotFound, isKubeError, type Live, pods } from '@tartan/kube';
import { liveReadNode } from '../observe.ts';
import { type Pod, podFacts } from '../snapshot.ts';
import { type ActContext, leaderCallOptions } from './context.ts';

/** The Pod and its Node, read from the server. Undefined: the Pod is gone. */
export const liveReadPod = async (
  { deps, memory, signal }: Pick<ActContext, 'deps' | 'memory' | 'signal'>,
  { metadata: { name, namespace = '', uid } }: Live<Pod>,
) => {
  const pod = await ignoreNotFound(deps.client.get(pods, { namespace, name }, { signal }));
  if (pod?.metadata.uid !== uid) {
    memory.mutations.deleted(uid);
    return undefined;
  }
  const node = await liveReadNode(deps.client, pod, signal);
  return { pod, facts: podFacts(pod, memory.pool.spec.image, node, memory.offlineSince) };
};

/**
 * Writes annotations onto the Pod of this UID. Without optimistic locking: agents write Pods often, and these annotations do not depend on
 * what agents write. `gone`: the Pod does not exist any more.
 */
export const annotatePod = async (
  context: ActContext,
  { metadata: { name, namespace = '', uid } }: Live<Pod>,
  annotations: Readonly<Record<string, string>>,
): Promise<'annotated' | 'gone'> => {
  const patch = { type: 'merge', body: { metadata: { uid, annotations } } } as const;
  const { mutations } = context.memory;
  const pod = await ignoreNotFound(
    context.deps.client.patch(pods, { namespace, name }, patch, leaderCallOptions(context)),
  );
  if (pod === undefined) mutations.deleted(uid);
  else mutations.updated(pod);
  return pod === undefined ? 'gone' : 'annotated';
};

/** False: it was gone, or has changed meanwhile. The next pass decides again. */
export const deletePodIfUnchanged = async (context: ActContext, pod: Live<Pod>): Promise<boolean> => {
  const { uid } = pod.metadata;
  const { mutations } = context.memory;
  try {
    const left = await deleteIfUnchanged(context.deps.client, pods, pod, leaderCallOptions(context));
    if (left === undefined) mutations.deleted(uid);
    else mutations.updated(left);
    return true;
  } catch (error) {
    if (isKubeError(error, 'notFound')) mutations.deleted(uid);
    else if (!isKubeError(error, 'conflict')) throw error;
    return false;
  }
};
