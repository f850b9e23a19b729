import type { Clock } from '@tartan/kube/clock';
import { createProcessUsage, type ReadProcessUsage, type Tart } from '@tartan/tart';
import type { PodRuntime } from '../api/pod-runtime.ts';
import { badRequest } from '../api/problem.ts';
import { type ContainerLogsOptions, createContainerLogs } from './container-logs.ts';
import { dialGuest } from './dial.ts';
import { execInGuest } from './exec.ts';
import { knownContainer, knownPod, runningOf } from './known-container.ts';
import { readUsage } from './usage.ts';

export interface PodRuntimeOptions extends ContainerLogsOptions {
  readonly tart: Pick<Tart, 'exec'>;
  readonly clock: Clock;
  /** By ps(1) unless told. */
  readonly processUsage?: ReadProcessUsage;
}

/** How people reach into the Pods of this Mac. Changes nothing of them, and holds nothing but open sessions. */
export const createPodRuntime = (options: PodRuntimeOptions): PodRuntime => {
  const { views, tart, clock, processUsage = createProcessUsage(process.env) } = options;
  return {
    pods: () => views.all(),
    ...createContainerLogs(options),
    exec: async (container, request) => {
      const view = knownContainer(views, container);
      runningOf(view);
      return execInGuest(tart, clock, view.vm, request);
    },
    dial: async (pod, port, signal) => {
      const { address } = runningOf(knownPod(views, pod));
      if (address === undefined) throw badRequest(`the virtual machine of pod "${pod.pod}" has no address yet`);
      return dialGuest({ address, port, clock, signal });
    },
    usage: () => readUsage(views, processUsage, clock),
  };
};
