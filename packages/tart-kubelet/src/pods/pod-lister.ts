import type { KubeObject, Live } from '@tartan/kube';
import type { PodCache } from './apiserver/pod-cache.ts';
import type { StatusManager } from './apiserver/status-manager.ts';
import type { PodObservation } from './observe.ts';
import { isPresent, type Pod } from './snapshot.ts';

/** A Pod of this Mac as those see it who reach into it. */
export interface PodView {
  readonly pod: Live<Pod>;
  readonly vm: string;
  /** That of its container now. */
  readonly run: number;
  /** `undefined`: its virtual machine is not on. */
  readonly running: { readonly pid: number; readonly since: number; readonly address: string | undefined } | undefined;
}

/** The Pods of this Mac, from memory. */
export interface PodLister {
  /** With the status that they are to have, even if the server did not take it yet. */
  list(): readonly KubeObject[];
  /** Of Pods that share a name in the course of time, the one that the server has. */
  get(name: { readonly namespace: string; readonly pod: string }): PodView | undefined;
}

/** PodViews, and who tells them what was seen. */
interface ObservedPodLister extends PodLister {
  observed(sight: PodObservation): void;
  forget(uid: string): void;
  /** When the oldest Pod was made that waits for its virtual machine to run. Those that are not for Macs wait for nobody. */
  oldestWaitingSince(): number | undefined;
}

export const createPodLister = (
  podCache: PodCache,
  statusManager: Pick<StatusManager, 'desiredStatus'>,
): ObservedPodLister => {
  const observations = new Map<string, PodObservation>();
  const viewOf = (observation: PodObservation): PodView | undefined => {
    const { record, vm } = observation.snapshot;
    const pod = podCache.get(observation.uid);
    if (pod === undefined) return undefined;
    const state = typeof record === 'object' ? record.state : undefined;
    const isRunning = vm.kind === 'running' && state?.kind === 'running';
    return {
      pod,
      vm: observation.vm,
      run: typeof record === 'object' ? record.run : 0,
      running: isRunning
        ? { pid: state.process.pid, since: state.since, address: vm.address ?? state.address }
        : undefined,
    };
  };
  return {
    observed: (sight) => {
      if (isPresent(sight.snapshot.pod)) observations.set(sight.uid, sight);
      else observations.delete(sight.uid);
    },
    forget: (uid) => void observations.delete(uid),
    list: () => podCache.list().map((pod) => ({ ...pod, status: statusManager.desiredStatus(pod) ?? pod.status })),
    oldestWaitingSince: () => {
      const waiting = podCache
        .list()
        .filter((pod) => {
          const { phase, reason } = statusManager.desiredStatus(pod) ?? pod.status ?? {};
          return (phase ?? 'Pending') === 'Pending' && reason !== 'NotForMacs';
        })
        .map(({ metadata }) => Date.parse(metadata.creationTimestamp))
        .filter((since) => !Number.isNaN(since));
      return waiting.length === 0 ? undefined : Math.min(...waiting);
    },
    get: ({ namespace, pod: name }) => {
      const pod = podCache.list().find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
      if (pod === undefined) return undefined;
      const sight = observations.get(pod.metadata.uid);
      return sight && viewOf(sight);
    },
  };
};
