import { cpus, freemem, totalmem } from 'node:os';
import type { Clock } from '@tartan/kube/clock';
import { createProcessUsage, type ReadProcessUsage, type Tart } from '@tartan/tart';
import { badRequest } from '../api/http-response.ts';
import type { PodRuntime, ResourceUsage, Usage } from '../api/pod-runtime.ts';
import type { PodLister } from '../pods/pod-lister.ts';
import { type ContainerLogsOptions, createContainerLogs } from './container-logs.ts';
import { dialGuest } from './dial.ts';
import { execInGuest } from './exec.ts';
import { findContainer, findPod, requireRunning } from './find-container.ts';

/** Of the whole Mac since it started. */
const nodeUsage = (at: number): ResourceUsage => {
  const busyMs = cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);
  return { at, cpuSeconds: busyMs / 1000, memoryBytes: totalmem() - freemem() };
};

/** The containers of the Pods that are on: each has one. */
const runningContainers = (lister: PodLister) =>
  lister.list().flatMap(({ metadata: { namespace = '', name: pod = '' } = {} }) => {
    const view = lister.get({ namespace, pod });
    const container = view?.pod.spec?.containers[0]?.name;
    return view?.running === undefined || container === undefined
      ? []
      : [{ namespace, pod, container, running: view.running }];
  });

/** For `kubectl top`. Never rejects: what ps does not say is not known, and left out. */
export const readUsage = async (
  lister: PodLister,
  processUsage: ReadProcessUsage,
  clock: Pick<Clock, 'now'>,
): Promise<Usage> => {
  const on = runningContainers(lister);
  const used = await processUsage(on.map(({ running }) => running.pid)).catch(() => new Map<number, never>());
  const at = clock.now();
  return {
    node: nodeUsage(at),
    containers: on.map(({ running, ...name }) => ({ ...name, startedAt: running.since, at, ...used.get(running.pid) })),
  };
};

interface PodRuntimeOptions extends ContainerLogsOptions {
  readonly tart: Pick<Tart, 'exec'>;
  readonly clock: Clock;
  /** Default: by ps(1). */
  readonly processUsage?: ReadProcessUsage;
}

/** How people reach into the Pods of this Mac. Changes nothing of them, and holds nothing but open sessions. */
export const createPodRuntime = (options: PodRuntimeOptions): PodRuntime => {
  const { lister, tart, clock, processUsage = createProcessUsage(process.env) } = options;
  return {
    pods: () => lister.list(),
    ...createContainerLogs(options),
    exec: async (container, request) => {
      const view = findContainer(lister, container);
      requireRunning(view);
      return execInGuest(tart, clock, view.vm, request);
    },
    dial: async (pod, port, signal) => {
      const { address } = requireRunning(findPod(lister, pod));
      if (address === undefined) throw badRequest(`the virtual machine of pod "${pod.pod}" has no address yet`);
      return dialGuest({ address, port, clock, signal });
    },
    usage: () => readUsage(lister, processUsage, clock),
  };
};
