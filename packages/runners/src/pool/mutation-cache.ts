import { isOlderResourceVersion, type Live } from '@tartan/kube';
import type { Pod } from './snapshot.ts';

interface Mutation {
  readonly pod: Live<Pod>;
  /** Whether the cache has had it. If it had and does not any more, the Pod is gone. */
  readonly wasSeen: boolean;
  readonly at: number;
}

/** A watch is rarely this late. */
const mutationTTLMs = 10_000;

export type MutationCache = ReturnType<typeof createMutationCache>;

/**
 * This process's own writes to the Pods of a pool, on top of an informer cache that may not show them yet: without them the next pass would
 * create the same Pods again.
 */
export const createMutationCache = (now: () => number) => {
  const creating = new Set<string>();
  const written = new Map<string, Mutation>();
  const gone = new Map<string, number>();

  const isKnownBy = (cached: ReadonlyMap<string, Live<Pod>>, uid: string, { pod, wasSeen }: Mutation): boolean => {
    const shown = cached.get(uid);
    if (shown === undefined) return wasSeen;
    return !isOlderResourceVersion(shown.metadata.resourceVersion, pod.metadata.resourceVersion);
  };

  return {
    /** A Pod of this name is about to be created. It is unconfirmed until its creation is known to have succeeded or failed. */
    creating: (name: string): void => void creating.add(name),
    /** There is no Pod of that name. */
    notCreated: (name: string): void => {
      creating.delete(name);
      for (const [uid, { pod }] of written) if (pod.metadata.name === name) written.delete(uid);
    },
    created: (pod: Live<Pod>): void => {
      creating.delete(pod.metadata.name);
      written.set(pod.metadata.uid, { pod, wasSeen: false, at: now() });
    },
    updated: (pod: Live<Pod>): void => {
      const { uid } = pod.metadata;
      written.set(uid, { pod, wasSeen: written.get(uid)?.wasSeen ?? true, at: now() });
    },
    /** The Pod does not exist any more. */
    deleted: (uid: string): void => {
      written.delete(uid);
      gone.set(uid, now());
    },
    /** `unconfirmed`: names of Pods that may or may not exist. The caller reads them live, and calls `created` or `notCreated`. */
    applyTo: (list: readonly Live<Pod>[]) => {
      const cached = new Map(list.map((pod) => [pod.metadata.uid, pod]));
      for (const pod of list) {
        creating.delete(pod.metadata.name);
        const entry = written.get(pod.metadata.uid);
        if (entry !== undefined && !entry.wasSeen) written.set(pod.metadata.uid, { ...entry, wasSeen: true });
      }
      for (const [uid, entry] of written) if (isKnownBy(cached, uid, entry)) written.delete(uid);
      for (const [uid, at] of gone) if (!cached.has(uid) && now() - at > mutationTTLMs) gone.delete(uid);
      const ours = [...written.values()];
      return {
        pods: [
          ...list.filter(({ metadata: { uid } }) => !written.has(uid) && !gone.has(uid)),
          ...ours.map(({ pod }) => pod),
        ],
        unconfirmed: [
          ...creating,
          ...ours.flatMap(({ pod, wasSeen, at }) =>
            !wasSeen && now() - at > mutationTTLMs ? [pod.metadata.name] : [],
          ),
        ],
      };
    },
  };
};
