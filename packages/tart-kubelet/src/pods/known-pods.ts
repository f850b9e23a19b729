import type { Live } from '@tartan/kube';
import type { Pod } from './snapshot.ts';

/**
 * The Pods of this Mac by UID, each as new as anybody has told: what the watch brings, and what the server answered to requests of ours,
 * which the watch brings later. So no pass decides by what it has itself changed since (INC-29).
 *
 * The watch alone says which Pods there are: an answer changes only a Pod that the watch has brought and not yet removed. An answer may
 * come after the watch has told the end of its Pod, and would bring back one that nobody ever removes.
 */
export interface KnownPods {
  /** Undefined also for one of which the server has answered that it is gone, before the watch says so. */
  get(uid: string): Live<Pod> | undefined;
  all(): Live<Pod>[];
  /** By the watch: it is there, like this. Whether that is news. */
  watched(pod: Live<Pod>): boolean;
  /** By the watch: it is there no more. */
  removed(uid: string): void;
  /** By the answer to a write. */
  written(pod: Live<Pod>): void;
  /** By the answer to a GET, which is never behind: it counts, also when the server was put back to an older state. */
  read(pod: Live<Pod>): void;
  /** By an answer: the server knows no such UID. */
  notFound(uid: string): void;
}

/** Versions count up; Kubernetes promises that since 1.35, and every server has done it. What is no number is always news. */
const isOlder = (one: string, other: string): boolean => {
  if (!/^\d+$/.test(one) || !/^\d+$/.test(other)) return false;
  return one.length === other.length ? one < other : one.length < other.length;
};

const isNews = ({ metadata: { resourceVersion: next } }: Live<Pod>, { metadata }: Live<Pod>): boolean =>
  next !== metadata.resourceVersion && !isOlder(next, metadata.resourceVersion);

export const createKnownPods = (): KnownPods => {
  /** Those that the watch holds. */
  const pods = new Map<string, { readonly newest: Live<Pod>; readonly isGone: boolean }>();
  const set = (newest: Live<Pod>): void => void pods.set(newest.metadata.uid, { newest, isGone: false });
  return {
    get: (uid) => {
      const held = pods.get(uid);
      return held?.isGone === false ? held.newest : undefined;
    },
    all: () => [...pods.values()].flatMap(({ newest, isGone }) => (isGone ? [] : [newest])),
    watched: (pod) => {
      const held = pods.get(pod.metadata.uid);
      if (held !== undefined && !isNews(pod, held.newest)) return false;
      set(pod);
      return true;
    },
    removed: (uid) => void pods.delete(uid),
    written: (pod) => {
      const held = pods.get(pod.metadata.uid);
      if (held !== undefined && isNews(pod, held.newest)) set(pod);
    },
    read: (pod) => {
      if (pods.has(pod.metadata.uid)) set(pod);
    },
    notFound: (uid) => {
      const held = pods.get(uid);
      if (held !== undefined) pods.set(uid, { ...held, isGone: true });
    },
  };
};
