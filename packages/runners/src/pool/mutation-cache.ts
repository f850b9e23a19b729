import { isOlderResourceVersion, type Live } from '@tartan/kube';
import type { Pod } from './snapshot.ts';

/**
 * What this process has just done to the Pods of a pool, laid over a cache that may not show it yet: without it a pass that follows at
 * once would make the same Pods again.
 */
export interface MutationCache {
  /** A Pod of this name is about to be made. Until it is known what became of it, somebody has to look. */
  creating(name: string): void;
  /** There is none of that name. */
  notCreated(name: string): void;
  created(pod: Live<Pod>): void;
  updated(pod: Live<Pod>): void;
  /** It is gone for good. */
  deleted(uid: string): void;
  /** What there is, as far as is known. `inDoubt`: names of Pods that may or may not be there. Ask the server, and tell. */
  applyTo(cached: readonly Live<Pod>[]): { pods: Live<Pod>[]; unconfirmed: string[] };
}

interface Mutation {
  readonly pod: Live<Pod>;
  /** Whether the cache has shown it at some time. Then that it does not means that it is gone. */
  readonly wasSeen: boolean;
  readonly at: number;
}

/** A watch is rarely so late. */
const mutationTTLMs = 10_000;

export const createMutationCache = (now: () => number): MutationCache => {
  const beingMade = new Set<string>();
  const written = new Map<string, Mutation>();
  const gone = new Map<string, number>();

  const isKnownBy = (cached: ReadonlyMap<string, Live<Pod>>, uid: string, { pod, wasSeen }: Mutation): boolean => {
    const shown = cached.get(uid);
    if (shown === undefined) return wasSeen;
    return !isOlderResourceVersion(shown.metadata.resourceVersion, pod.metadata.resourceVersion);
  };

  return {
    creating: (name) => void beingMade.add(name),
    notCreated: (name) => {
      beingMade.delete(name);
      for (const [uid, { pod }] of written) if (pod.metadata.name === name) written.delete(uid);
    },
    created: (pod) => {
      beingMade.delete(pod.metadata.name);
      written.set(pod.metadata.uid, { pod, wasSeen: false, at: now() });
    },
    updated: (pod) => {
      const { uid } = pod.metadata;
      written.set(uid, { pod, wasSeen: written.get(uid)?.wasSeen ?? true, at: now() });
    },
    deleted: (uid) => {
      written.delete(uid);
      gone.set(uid, now());
    },
    applyTo: (list) => {
      const cached = new Map(list.map((pod) => [pod.metadata.uid, pod]));
      for (const pod of list) {
        beingMade.delete(pod.metadata.name);
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
          ...beingMade,
          ...ours.flatMap(({ pod, wasSeen, at }) =>
            !wasSeen && now() - at > mutationTTLMs ? [pod.metadata.name] : [],
          ),
        ],
      };
    },
  };
};
