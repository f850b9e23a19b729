import type { KubeObject, Live } from '@tartan/kube';
import type { PodCache } from './apiserver/pod-cache.ts';
import type { PodWorker } from './pod-worker.ts';
import { type Pod, type PodStatus, readableRecord } from './snapshot.ts';

/** A Pod of this Mac, for the kubelet API. */
export interface PodView {
  readonly pod: Live<Pod>;
  readonly vm: string;
  /** The present run of its container. */
  readonly run: number;
  /** `undefined`: its VM is not running. */
  readonly running: { readonly pid: number; readonly since: number; readonly address: string | undefined } | undefined;
}

/** The Pods of this Mac, from memory. */
export interface PodLister {
  /** With the status that they should have, even if the API server does not have it yet. */
  list(): readonly KubeObject[];
  get(name: { readonly namespace: string; readonly pod: string }): PodView | undefined;
}

export const createPodLister = (
  podCache: PodCache,
  workers: ReadonlyMap<string, PodWorker>,
): PodLister & {
  /** When the oldest Pod was created whose VM has not started. Pods that are not for Macs do not count. */
  oldestWaitingSince(): number | undefined;
} => {
  const statusOf = (pod: Live<Pod>): PodStatus | undefined =>
    workers.get(pod.metadata.uid)?.status.desired(pod) ?? pod.status;
  return {
    list: () => podCache.list().map((pod) => ({ ...pod, status: statusOf(pod) })),
    oldestWaitingSince: () => {
      const waiting = podCache
        .list()
        .filter((pod) => {
          const { phase = 'Pending', reason } = statusOf(pod) ?? {};
          return phase === 'Pending' && reason !== 'NotForMacs';
        })
        .map(({ metadata }) => Date.parse(metadata.creationTimestamp))
        .filter((since) => !Number.isNaN(since));
      return waiting.length === 0 ? undefined : Math.min(...waiting);
    },
    get: ({ namespace, pod: name }) => {
      const pod = podCache.list().find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
      const observation = pod && workers.get(pod.metadata.uid)?.observation;
      if (pod === undefined || observation === undefined) return undefined;
      const { snapshot, vm } = observation;
      const record = readableRecord(snapshot);
      const running =
        snapshot.vm.kind === 'running' && record?.state.kind === 'running'
          ? {
              pid: record.state.process.pid,
              since: record.state.since,
              address: snapshot.vm.address ?? record.state.address,
            }
          : undefined;
      return { pod, vm, run: record?.run ?? 0, running };
    },
  };
};
