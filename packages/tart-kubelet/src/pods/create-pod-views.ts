import type { KnownPods } from './known-pods.ts';
import type { Sight } from './observe.ts';
import type { PodView, PodViews } from './pod-views.ts';
import type { Publisher } from './publish.ts';
import { isThere } from './snapshot.ts';

/** PodViews, and who tells them what was seen. */
export interface WritablePodViews extends PodViews {
  seen(sight: Sight): void;
  forget(uid: string): void;
  /** When the oldest Pod was made that waits for its virtual machine to run. Those that are not for Macs wait for nobody. */
  oldestWaitingSince(): number | undefined;
}

export const createPodViews = (known: KnownPods, publisher: Pick<Publisher, 'wanted'>): WritablePodViews => {
  const sights = new Map<string, Sight>();
  const viewOf = (sight: Sight): PodView | undefined => {
    const { record, vm } = sight.snapshot;
    const pod = known.get(sight.uid);
    if (pod === undefined) return undefined;
    const state = typeof record === 'object' ? record.state : undefined;
    const isOn = vm.kind === 'running' && state?.kind === 'running';
    return {
      pod,
      vm: sight.vm,
      run: typeof record === 'object' ? record.run : 0,
      running: isOn ? { pid: state.process.pid, since: state.since, address: vm.address ?? state.address } : undefined,
    };
  };
  return {
    seen: (sight) => {
      if (isThere(sight.snapshot.pod)) sights.set(sight.uid, sight);
      else sights.delete(sight.uid);
    },
    forget: (uid) => void sights.delete(uid),
    all: () => known.all().map((pod) => ({ ...pod, status: publisher.wanted(pod) ?? pod.status })),
    oldestWaitingSince: () => {
      const waiting = known
        .all()
        .filter((pod) => {
          const { phase, reason } = publisher.wanted(pod) ?? pod.status ?? {};
          return (phase ?? 'Pending') === 'Pending' && reason !== 'NotForMacs';
        })
        .map(({ metadata }) => Date.parse(metadata.creationTimestamp))
        .filter((since) => !Number.isNaN(since));
      return waiting.length === 0 ? undefined : Math.min(...waiting);
    },
    find: ({ namespace, pod: name }) => {
      const pod = known.all().find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
      if (pod === undefined) return undefined;
      const sight = sights.get(pod.metadata.uid);
      return sight && viewOf(sight);
    },
  };
};
