import {
  annotations,
  labels,
  runnerBusyCondition,
  type RunnerPool,
  runnerPool,
  type RunnerPoolStatus,
  runnersLeaderElectionID,
} from '@tartan/api';
import type { Live, nodes, pods } from '@tartan/kube';
import { type ManualClock, timestamp } from '@tartan/kube/clock';
import { poolStates } from '../../../packages/runners/src/metrics/pool-gauges.ts';
import { createRunnerMetrics, type RunnerMetrics } from '../../../packages/runners/src/metrics/runner-metrics.ts';
import { condition } from './objects.ts';

type Pod = Live<NonNullable<(typeof pods)['ofType']>>;
type Node = Live<NonNullable<(typeof nodes)['ofType']>>;

/** The content of a runners controller's caches: one pool and its Pods. */
export interface RunnersState {
  readonly pool: Live<RunnerPool>;
  readonly pods: readonly Pod[];
}

export interface RunnersController {
  readonly metrics: RunnerMetrics;
  scraped: boolean;
}

const metadata = (name: string) => ({
  name,
  namespace: 'tartan',
  uid: name,
  resourceVersion: '1',
  creationTimestamp: timestamp(0),
});

export const poolWith = (status: Partial<RunnerPoolStatus> = {}, replicas = 3): Live<RunnerPool> => ({
  apiVersion: 'tuist.dev/v1alpha1',
  kind: 'RunnerPool',
  metadata: metadata('macos'),
  spec: runnerPool.spec.parse({ replicas, image: 'runner', fleetSelector: 'runners' }),
  status: {
    observedGeneration: 1,
    queue: { jobs: 0, observedAt: timestamp(0) },
    conditions: [condition('GitHubReachable', 'True', 'Reachable'), condition('Stuck', 'False', 'NoneStuck')],
    ...status,
  },
});

const withStatus = (name: string, status: NonNullable<Pod['status']>, rest: Partial<Pod['metadata']> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...metadata(name),
    labels: { [labels.runnerPool]: 'macos' },
    annotations: { [annotations.runnerID]: '7' },
    ...rest,
  },
  spec: { nodeName: 'mac-1', containers: [{ name: 'runner', image: 'runner' }] },
  status,
});

/** A runner that is idle or has a job. */
export const runnerPod = (name: string, job: 'warm' | 'busy', rest: Partial<Pod['metadata']> = {}): Pod =>
  withStatus(
    name,
    { phase: 'Running', conditions: [{ type: runnerBusyCondition, status: job === 'busy' ? 'True' : 'False' }] },
    rest,
  );

/** Bound to a Mac since then, without a virtual machine. */
export const unbootedPod = (name: string, since: number): Pod =>
  withStatus(name, {
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: timestamp(since) }],
  });

const node: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: metadata('mac-1'),
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
};

/** Two runners controllers of which the first leads, and a healthy pool: two idle runners, one with a job. */
export const createRunners = (
  clock: ManualClock,
  state: () => RunnersState,
): { state: RunnersState; controllers: readonly [RunnersController, RunnersController] } => {
  const createController = (leads: boolean): RunnersController => {
    const metrics = createRunnerMetrics({ clock });
    metrics.setLeader(runnersLeaderElectionID, leads, leads ? 3 : undefined);
    metrics.controller('runner-pool').started(4);
    metrics.queue('runner-pool');
    metrics.setPoolReader(() => {
      const { pool, pods: all } = state();
      const caches = {
        pools: { list: () => [pool] },
        pods: { byIndex: () => [...all] },
        nodes: { get: () => node },
      };
      return leads ? poolStates(caches, clock.now()) : undefined;
    });
    return { metrics, scraped: true };
  };
  return {
    state: {
      pool: poolWith(),
      pods: [runnerPod('a', 'warm'), runnerPod('b', 'warm'), runnerPod('c', 'busy')],
    },
    controllers: [createController(true), createController(false)],
  };
};
