import { isOlder, type Live } from '@tartan/kube';
import type { Pod } from './objects.ts';

/**
 * What this process has just done to the Pods of a pool, laid over a cache that may not show it yet: without it a pass that follows at
 * once would make the same Pods again.
 */
export interface Overlay {
  /** A Pod of this name is about to be made. Until it is known what became of it, somebody has to look. */
  making(name: string): void;
  /** There is none of that name. */
  notMade(name: string): void;
  made(pod: Live<Pod>): void;
  changed(pod: Live<Pod>): void;
  /** It is gone for good. */
  gone(uid: string): void;
  /** What there is, as far as is known. `inDoubt`: names of Pods that may or may not be there. Ask the server, and tell. */
  over(cached: readonly Live<Pod>[]): { pods: Live<Pod>[]; inDoubt: string[] };
}

interface Written {
  readonly pod: Live<Pod>;
  /** Whether the cache has shown it at some time. Then that it does not means that it is gone. */
  readonly wasSeen: boolean;
  readonly at: number;
}

/** A watch is rarely so late. */
const believedForMs = 10_000;

export const createOverlay = (now: () => number): Overlay => {
  const beingMade = new Set<string>();
  const written = new Map<string, Written>();
  const gone = new Map<string, number>();

  const isKnownBy = (cached: ReadonlyMap<string, Live<Pod>>, uid: string, { pod, wasSeen }: Written): boolean => {
    const shown = cached.get(uid);
    if (shown === undefined) return wasSeen;
    return !isOlder(shown.metadata.resourceVersion, pod.metadata.resourceVersion);
  };

  return {
    making: (name) => void beingMade.add(name),
    notMade: (name) => {
      beingMade.delete(name);
      for (const [uid, { pod }] of written) if (pod.metadata.name === name) written.delete(uid);
    },
    made: (pod) => {
      beingMade.delete(pod.metadata.name);
      written.set(pod.metadata.uid, { pod, wasSeen: false, at: now() });
    },
    changed: (pod) => {
      const { uid } = pod.metadata;
      written.set(uid, { pod, wasSeen: written.get(uid)?.wasSeen ?? true, at: now() });
    },
    gone: (uid) => {
      written.delete(uid);
      gone.set(uid, now());
    },
    over: (list) => {
      const cached = new Map(list.map((pod) => [pod.metadata.uid, pod]));
      for (const pod of list) {
        beingMade.delete(pod.metadata.name);
        const entry = written.get(pod.metadata.uid);
        if (entry !== undefined && !entry.wasSeen) written.set(pod.metadata.uid, { ...entry, wasSeen: true });
      }
      for (const [uid, entry] of written) if (isKnownBy(cached, uid, entry)) written.delete(uid);
      for (const [uid, at] of gone) if (!cached.has(uid) && now() - at > believedForMs) gone.delete(uid);
      const ours = [...written.values()];
      return {
        pods: [
          ...list.filter(({ metadata: { uid } }) => !written.has(uid) && !gone.has(uid)),
          ...ours.map(({ pod }) => pod),
        ],
        inDoubt: [
          ...beingMade,
          ...ours.flatMap(({ pod, wasSeen, at }) =>
            !wasSeen && now() - at > believedForMs ? [pod.metadata.name] : [],
          ),
        ],
      };
    },
  };
};
