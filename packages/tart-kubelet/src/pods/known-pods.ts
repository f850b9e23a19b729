import type { Live } from '@tartan/kube';
import type { Pod } from './snapshot.ts';

/**
 * The Pods of this Mac by UID, each as new as anybody has told: what the watch brings, and what the server answered to a write of ours,
 * which the watch brings later. So no pass decides by what it has itself changed since (INC-29).
 */
export interface KnownPods {
  get(uid: string): Live<Pod> | undefined;
  /** By the watch, or by the answer to a write. Whether it is news. */
  told(pod: Live<Pod>): boolean;
  /** By a GET, which is never behind: it counts, also when the server was put back to an older state. */
  read(pod: Live<Pod>): void;
  /** The server knows no such UID any more. */
  gone(uid: string): void;
  all(): Live<Pod>[];
}

/** Versions count up; Kubernetes promises that since 1.35, and every server has done it. What is no number is always news. */
const isOlder = (one: string, other: string): boolean => {
  if (!/^\d+$/.test(one) || !/^\d+$/.test(other)) return false;
  return one.length === other.length ? one < other : one.length < other.length;
};

export const createKnownPods = (): KnownPods => {
  const pods = new Map<string, Live<Pod>>();
  return {
    get: (uid) => pods.get(uid),
    told: (pod) => {
      const { uid, resourceVersion } = pod.metadata;
      const before = pods.get(uid)?.metadata.resourceVersion;
      if (before !== undefined && (before === resourceVersion || isOlder(resourceVersion, before))) return false;
      pods.set(uid, pod);
      return true;
    },
    read: (pod) => void pods.set(pod.metadata.uid, pod),
    gone: (uid) => void pods.delete(uid),
    all: () => [...pods.values()],
  };
};
