import type { KubeObject, Live } from '@tartan/kube';
import type { PodName } from '../api/pod-runtime.ts';
import type { PodCache } from './apiserver/pod-cache.ts';
import type { PodWorker } from './pod-worker.ts';
import { type Pod, type PodStatus, readableRecord } from './snapshot.ts';

/** The Pods of this Mac, from the cache. */
export const createPodLister = (podCache: PodCache, workers: ReadonlyMap<string, PodWorker>) => {
  const statusOf = (pod: Live<Pod>): PodStatus | undefined =>
    workers.get(pod.metadata.uid)?.status.desired(pod) ?? pod.status;
  return {
    /** With the desired status, even if it is not written yet. */
    list: (): readonly KubeObject[] => podCache.list().map((pod) => ({ ...pod, status: statusOf(pod) })),
    /** Creation time of the oldest Pod whose VM has not started. Ignores Pods that are not for Macs. */
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
    /** `running` is undefined unless its VM runs; `run` is the container's current run. */
    get: ({ namespace, pod: name }: PodName) => {
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

export type PodLister = Pick<ReturnType<typeof createPodLister>, 'list' | 'get'>;
/** A Pod of this Mac, for the kubelet API. */
export type PodView = NonNullable<ReturnType<PodLister['get']>>;
