import { type Client, isKubeError, isOlderResourceVersion, type Live, pods } from '@tartan/kube';
import type { Pod } from '../snapshot.ts';

const isNewer = ({ metadata: { resourceVersion: next } }: Live<Pod>, { metadata }: Live<Pod>): boolean =>
  next !== metadata.resourceVersion && !isOlderResourceVersion(next, metadata.resourceVersion);

/**
 * The Pods of this Mac by UID, each as new as any source has it: what the watch brings, and what the server answered to requests of ours,
 * which the watch brings later. So no pass decides by what it has itself changed since (INC-29).
 *
 * The watch alone says which Pods there are: an answer changes only a Pod that the watch has brought and not yet removed. An answer may
 * come after the watch has removed its Pod, and would bring back one that is never removed.
 */
export const createPodCache = () => {
  /** Those that the watch holds. */
  const pods = new Map<string, { readonly newest: Live<Pod>; readonly isNotFound: boolean }>();
  const set = (newest: Live<Pod>): void => void pods.set(newest.metadata.uid, { newest, isNotFound: false });
  return {
    /** Undefined also for one of which the server has answered that it is gone, before the watch says so. */
    get: (uid: string) => {
      const entry = pods.get(uid);
      return entry?.isNotFound === false ? entry.newest : undefined;
    },
    list: () => [...pods.values()].flatMap(({ newest, isNotFound }) => (isNotFound ? [] : [newest])),
    /** By the watch: it is there, like this. Whether that is news. */
    applyWatch: (pod: Live<Pod>) => {
      const held = pods.get(pod.metadata.uid);
      if (held !== undefined && !isNewer(pod, held.newest)) return false;
      set(pod);
      return true;
    },
    /** By the watch: it is there no more. */
    applyWatchDelete: (uid: string) => void pods.delete(uid),
    /** By the answer to a write. */
    applyWrite: (pod: Live<Pod>) => {
      const held = pods.get(pod.metadata.uid);
      if (held !== undefined && isNewer(pod, held.newest)) set(pod);
    },
    /** By the answer to a GET, which is never behind: it counts, also when the server was put back to an older state. */
    applyLiveRead: (pod: Live<Pod>) => {
      if (pods.has(pod.metadata.uid)) set(pod);
    },
    /** By an answer: the server knows no such UID. */
    markNotFound: (uid: string) => {
      const held = pods.get(uid);
      if (held !== undefined) pods.set(uid, { ...held, isNotFound: true });
    },
  };
};

export type PodCache = ReturnType<typeof createPodCache>;

type PodReader = Pick<Client, 'get' | 'list'>;

/** By what a Pod is asked for, and recognised: its name may be another's by now. */
interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Among those of this Node, when nobody knows its name. `undefined`: it is none of them. Rejects when the server does not answer. */
export const getLivePodByUid = async (
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
export const getLivePod = async (
  client: PodReader,
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
    if (isKubeError(error, 'forbidden')) return getLivePodByUid(client, nodeName, uid, signal);
    throw error;
  }
};

/** The Pod as the API server has it now, also in the cache. */
export const refreshCache = async (
  client: PodReader,
  nodeName: string,
  podCache: PodCache,
  { metadata: { name, namespace = '', uid } }: Live<Pod>,
  signal: AbortSignal,
): Promise<Live<Pod> | undefined> => {
  const found = await getLivePod(client, nodeName, { name, namespace, uid }, signal);
  if (found === undefined) podCache.markNotFound(uid);
  else podCache.applyLiveRead(found);
  return found;
};
