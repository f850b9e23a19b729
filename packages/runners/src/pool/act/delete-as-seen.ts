import { isKubeError, type Live, pods } from '@tartan/kube';
import type { Pod } from '../objects.ts';
import { type Act, whileLeading } from './act.ts';

/** Whether it was this process that deleted it, and in this version. Whoever changed it meanwhile is heard of, and judged anew. */
export const deleteAsSeen = async (act: Act, pod: Live<Pod>): Promise<boolean> => {
  const { name, namespace = '', uid, resourceVersion } = pod.metadata;
  const { pods: overlay } = act.memory;
  const options = { ...whileLeading(act), preconditions: { uid, resourceVersion } };
  try {
    const left = await act.world.client.delete(pods, { namespace, name }, options);
    if (left === undefined) overlay.gone(uid);
    else overlay.changed(left);
    return true;
  } catch (error) {
    if (isKubeError(error, 'notFound')) overlay.gone(uid);
    else if (!isKubeError(error, 'conflict')) throw error;
    return false;
  }
};
