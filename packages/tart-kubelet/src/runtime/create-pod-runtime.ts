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

/** Of the whole Mac since its boot. */
const nodeUsage = (at: number): ResourceUsage => {
  const busyMs = cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);
  return { at, cpuSeconds: busyMs / 1000, memoryBytes: totalmem() - freemem() };
};

/** The containers of running Pods: one each. */
const runningContainers = (lister: PodLister) =>
  lister.list().flatMap(({ metadata: { namespace = '', name: pod = '' } = {} }) => {
    const view = lister.get({ namespace, pod });
    const container = view?.pod.spec?.containers[0]?.name;
    return view?.running === undefined || container === undefined
      ? []
      : [{ namespace, pod, container, running: view.running }];
  });

/** For `kubectl top`. Never rejects: values that ps does not report are absent. */
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
  /** ps(1) by default. */
  readonly processUsage?: ReadProcessUsage;
}

/** Access to the Pods of this Mac. Changes none of them, and holds no state but open sessions. */
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
