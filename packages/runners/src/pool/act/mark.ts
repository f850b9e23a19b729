import { isKubeError, type Live, pods } from '@tartan/kube';
import type { Pod } from '../objects.ts';
import { type Act, whileLeading } from './act.ts';

/**
 * Writes an annotation onto this very Pod, and onto no other of its name. Not bound to its version: agents write Pods often, and what is
 * said here does not depend on what they say. `gone`: there is no such Pod any more.
 */
export const mark = async (
  act: Act,
  { metadata: { name, namespace = '', uid } }: Live<Pod>,
  annotations: Readonly<Record<string, string>>,
): Promise<'marked' | 'gone'> => {
  const patch = { type: 'merge', body: { metadata: { uid, annotations } } } as const;
  try {
    act.memory.pods.changed(await act.world.client.patch(pods, { namespace, name }, patch, whileLeading(act)));
    return 'marked';
  } catch (error) {
    if (!isKubeError(error, 'notFound')) throw error;
    act.memory.pods.gone(uid);
    return 'gone';
  }
};
