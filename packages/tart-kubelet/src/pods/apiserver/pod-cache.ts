import { type Client, isKubeError, isOlderResourceVersion, type Live, pods } from '@tartan/kube';
import type { Pod } from '../snapshot.ts';

const isNewer = ({ metadata: { resourceVersion: next } }: Live<Pod>, { metadata }: Live<Pod>): boolean =>
  next !== metadata.resourceVersion && !isOlderResourceVersion(next, metadata.resourceVersion);

/**
 * The Pods of this Mac by UID, each in the newest state from the watch or from responses to our own requests, which the watch delivers
 * later. So no reconcile decides on a state older than its own writes (INC-29).
 *
 * Only the watch adds and removes Pods; a response changes only a Pod that the watch has added and not removed. A response may arrive
 * after the watch removed its Pod, and would add one that is never removed.
 */
export const createPodCache = () => {
  /** The Pods that the watch has added. */
  const pods = new Map<string, { readonly newest: Live<Pod>; readonly isNotFound: boolean }>();
  const set = (newest: Live<Pod>): void => void pods.set(newest.metadata.uid, { newest, isNotFound: false });
  return {
    /** Also undefined for a Pod that a response reported as not found before the watch did. */
    get: (uid: string) => {
      const entry = pods.get(uid);
      return entry?.isNotFound === false ? entry.newest : undefined;
    },
    list: () => [...pods.values()].flatMap(({ newest, isNotFound }) => (isNotFound ? [] : [newest])),
    /** From the watch: added or changed. Returns whether it is new. */
    applyWatch: (pod: Live<Pod>) => {
      const held = pods.get(pod.metadata.uid);
      if (held !== undefined && !isNewer(pod, held.newest)) return false;
      set(pod);
      return true;
    },
    /** From the watch: removed. */
    applyWatchDelete: (uid: string) => void pods.delete(uid),
    /** From the response to a write. */
    applyWrite: (pod: Live<Pod>) => {
      const held = pods.get(pod.metadata.uid);
      if (held !== undefined && isNewer(pod, held.newest)) set(pod);
    },
    /** From the response to a GET, which is never stale: always applied, even after the server was restored to an older state. */
    applyLiveRead: (pod: Live<Pod>) => {
      if (pods.has(pod.metadata.uid)) set(pod);
    },
    /** From a response: the server has no such UID. */
    markNotFound: (uid: string) => {
      const held = pods.get(uid);
      if (held !== undefined) pods.set(uid, { ...held, isNotFound: true });
    },
  };
};

export type PodCache = ReturnType<typeof createPodCache>;

type PodReader = Pick<Client, 'get' | 'list'>;

/** Identifies a Pod; another Pod may have its name by now. */
interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Searches the Pods of this Node, when the Pod's name is unknown. `undefined`: not among them. Rejects when the API server is unreachable. */
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
 * Reads the Pod live. `undefined`: the server has no such UID any more. Rejects when the API server is unreachable: that never counts
 * as gone.
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
    // The API server also denies access to a deleted Pod, as it cannot tell that the Pod was on this Node. A list is
    // unambiguous.
    if (isKubeError(error, 'forbidden')) return getLivePodByUid(client, nodeName, uid, signal);
    throw error;
  }
};

/** Reads the Pod live, and updates the cache. */
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
