import { cpus, freemem, totalmem } from 'node:os';
import type { Clock } from '@tartan/kube/clock';
import type { ReadProcessUsage } from '@tartan/tart';
import type { ResourceUsage, Usage } from '../api/pod-runtime.ts';
import type { PodView, PodViews } from '../pods/pod-views.ts';

/** Of the whole Mac since it started. */
const nodeUsage = (at: number): ResourceUsage => {
  const busyMs = cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);
  return { at, cpuSeconds: busyMs / 1000, memoryBytes: totalmem() - freemem() };
};

/** The Pods that are on, with the one container that each of them has. */
const runningIn = (views: PodViews): readonly (PodView & { readonly container: string })[] =>
  views.all().flatMap(({ metadata: { namespace = '', name = '' } = {} }) => {
    const view = views.find({ namespace, pod: name });
    const container = view?.pod.spec?.containers[0]?.name;
    return view?.running === undefined || container === undefined ? [] : [{ ...view, container }];
  });

/** For `kubectl top`. Never rejects: what ps does not say is not known, and left out. */
export const readUsage = async (
  views: PodViews,
  processUsage: ReadProcessUsage,
  clock: Pick<Clock, 'now'>,
): Promise<Usage> => {
  const on = runningIn(views);
  const pids = on.flatMap(({ running }) => (running === undefined ? [] : [running.pid]));
  const used = await processUsage(pids).catch(() => new Map<number, never>());
  const at = clock.now();
  return {
    node: nodeUsage(at),
    containers: on.flatMap(({ pod, container, running }) =>
      running === undefined
        ? []
        : [
            {
              namespace: pod.metadata.namespace ?? '',
              pod: pod.metadata.name,
              container,
              startedAt: running.since,
              at,
              ...used.get(running.pid),
            },
          ],
    ),
  };
};
