import { type Client, isKubeError, type Live, pods } from '@tartan/kube';
import type { Pod } from './snapshot.ts';

type Reader = Pick<Client, 'get' | 'list'>;

/** By what a Pod is asked for, and recognised: its name may be another's by now. */
interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export const identityOf = ({ metadata: { name, namespace = '', uid } }: Live<Pod>): PodIdentity => ({
  name,
  namespace,
  uid,
});

/** Among those of this Node, when nobody knows its name. `undefined`: it is none of them. Rejects when the server does not answer. */
export const findByUid = async (
  client: Pick<Client, 'list'>,
  nodeName: string,
  uid: string,
  signal: AbortSignal,
): Promise<Live<Pod> | undefined> => {
  const { items } = await client.list(pods, { fieldSelector: `spec.nodeName=${nodeName}`, signal });
  return items.find(({ metadata }) => metadata.uid === uid);
};

/**
 * The Pod as the server has it now. `undefined`: the server knows no such UID any more. Rejects when it does not answer: nobody is gone
 * because of that.
 */
export const findPod = async (
  client: Reader,
  nodeName: string,
  { namespace, name, uid }: PodIdentity,
  signal: AbortSignal,
): Promise<Live<Pod> | undefined> => {
  try {
    const found = await client.get(pods, { namespace, name }, { signal });
    return found.metadata.uid === uid ? found : undefined;
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    // What a server says of a Pod that is gone, too: it has no way to know that it was this Node's. A list leaves no doubt.
    if (isKubeError(error, 'forbidden')) return findByUid(client, nodeName, uid, signal);
    throw error;
  }
};
