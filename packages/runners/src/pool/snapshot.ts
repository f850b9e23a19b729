import { annotations, finalizers, parseRunnerVersion, runnerBusyCondition, type RunnerPool } from '@tartan/api';
import { hasFinalizer, type Informer, type Live, type nodes, type pods, type serviceAccounts } from '@tartan/kube';

export type Pod = NonNullable<(typeof pods)['ofType']>;
export type Node = NonNullable<(typeof nodes)['ofType']>;
export type ServiceAccount = NonNullable<(typeof serviceAccounts)['ofType']>;

/** Times are milliseconds since the epoch. */

/** All facts about a pool and its Pods that decisions use. */
export interface Snapshot {
  readonly now: number;
  readonly pool: PoolFacts;
  readonly pods: readonly PodFacts[];
  /** ServiceAccounts of the pool without a Pod of the same name. */
  readonly orphanedAccounts: readonly string[];
  /** `unusable`: there is no valid Secret, or GitHub refuses calls. No runner is retired then. */
  readonly github: 'usable' | 'unusable';
}

export type NodeFacts =
  | { readonly kind: 'unscheduled' /** The scheduler finds no place. */; readonly isUnschedulable: boolean }
  /** The Node does not exist: the Mac is gone, and the virtual machine with it. */
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'exists';
      readonly isReady: boolean;
      /** The last transition of Ready. The first reports of an agent that becomes Ready again may be stale. */
      readonly readyChangedAt: number | undefined;
      /** Cordoned, or being deleted. */
      readonly isDraining: boolean;
    };

/** Facts for decisions. A Pod with unclear facts never counts as idle, nor as never started. */

export type PoolFacts = Readonly<ReturnType<typeof poolFacts>>;

export const poolFacts = (pool: Live<RunnerPool>) => ({
  replicas: pool.spec.replicas,
  maxConcurrentPercent: pool.spec.rollout.maxConcurrentPercent,
  isDeleting: pool.metadata.deletionTimestamp !== undefined,
  hasFinalizer: hasFinalizer(pool, finalizers.runnerPool),
  /** Without it no Pod is created. */
  hasGitHub: pool.spec.github !== undefined,
});

export type PodFacts = Readonly<ReturnType<typeof podFacts>>;

export const podFacts = (
  pod: Live<Pod>,
  image: string,
  node: NodeFacts,
  /** When GitHub was first seen to show a runner as offline, by its number. */
  offline: ReadonlyMap<number, number> = new Map(),
) => ({
  uid: pod.metadata.uid,
  name: pod.metadata.name,
  createdAt: Date.parse(pod.metadata.creationTimestamp),
  /** Its image is not that of the pool. */
  isStale: pod.spec?.containers[0]?.image !== image,
  /** When it should be gone. Undefined: it is not deleted. */
  deletedAt: timeOf(pod.metadata.deletionTimestamp),
  phase: phaseOf(pod),
  node,
  /** Since when it is bound to a Node, or Pending because no Node has room. */
  boundAt: boundAtOf(pod),
  /** Since when its virtual machine runs. Undefined: the agent has reported none. */
  runningSince: timeOf(pod.status?.containerStatuses?.[0]?.state?.running?.startedAt),
  /** The runner at GitHub. Undefined: it has no configuration, so it has no job and gets none. */
  runnerID: runnerIDOf(pod),
  /** Since when its runner is removed at GitHub. An invalid value is overwritten: retiring twice is harmless. */
  retiredAt: timeOf(pod.metadata.annotations?.[annotations.runnerRetired]),
  /** GitHub showed its runner as offline when it was retired: no listener was connected, so it had no job. */
  isRetiredOffline: annotations.runnerRetiredOffline in (pod.metadata.annotations ?? {}),
  /** Since when this process has seen its runner offline at GitHub. Undefined: it was online, or not listed yet. */
  offlineSince: offline.get(runnerIDOf(pod) ?? 0),
  /** The release of its runner, such as `2.335.0`, as the guest reports it. */
  runnerVersion: parseRunnerVersion(conditionOf(pod, runnerBusyCondition)?.message ?? undefined),
  job: jobOf(pod),
});

/** For a Pod that is bound to no Node. */
export const unscheduledNode = (pod: Live<Pod>): NodeFacts => {
  const condition = conditionOf(pod, 'PodScheduled');
  return {
    kind: 'unscheduled',
    isUnschedulable: condition?.status === 'False' && condition.reason === 'Unschedulable',
  };
};

export const nodeFacts = (node: Live<Node>): NodeFacts => {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    kind: 'exists',
    isReady: ready?.status === 'True',
    readyChangedAt: timeOf(ready?.lastTransitionTime),
    isDraining: node.spec?.unschedulable === true || node.metadata.deletionTimestamp !== undefined,
  };
};

/** Facts about the Node of a Pod, from a cache. Undefined: the cache does not have that Node. */
export const cachedNodeFacts = (nodes: Pick<Informer<Node>, 'get'>, pod: Live<Pod>): NodeFacts | undefined => {
  const name = pod.spec?.nodeName;
  if (name === undefined) return unscheduledNode(pod);
  const node = nodes.get(name);
  return node && nodeFacts(node);
};

/** A Node that could not be read: its Pods may have a job. */
export const unknownNode: NodeFacts = { kind: 'exists', isReady: false, readyChangedAt: undefined, isDraining: false };

export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/**
 * `pending`: no virtual machine runs, as far as the agent has reported. `running`: one runs, or did at the last report. `ended`: none will
 * run again.
 */
const phaseOf = (pod: Pod): 'pending' | 'running' | 'ended' => {
  if (hasEnded(pod)) return 'ended';
  return (pod.status?.phase ?? 'Pending') === 'Pending' ? 'pending' : 'running';
};

/** As the guest reports it to the agent. */
const jobOf = (pod: Pod): 'none' | 'started' | 'unknown' => {
  const status = conditionOf(pod, runnerBusyCondition)?.status;
  return status === 'True' ? 'started' : status === 'False' ? 'none' : 'unknown';
};

/** Undefined: unknown. */
export const hadJob = (pod: Pod): boolean | undefined => {
  const job = jobOf(pod);
  return job === 'unknown' ? undefined : job === 'started';
};

/** 0, which no runner of GitHub has, for an annotation that is no number: it still shows that there was a runner. */
export const runnerIDOf = ({ metadata }: Pod): number | undefined => {
  const text = metadata?.annotations?.[annotations.runnerID];
  if (text === undefined) return undefined;
  return /^[1-9][0-9]{0,14}$/.test(text) ? Number(text) : 0;
};

const boundAtOf = (pod: Live<Pod>): number | undefined => {
  const since = timeOf(conditionOf(pod, 'PodScheduled')?.lastTransitionTime);
  return since ?? (pod.spec?.nodeName === undefined ? undefined : Date.parse(pod.metadata.creationTimestamp));
};

const conditionOf = (pod: Pod, type: string) => pod.status?.conditions?.find((each) => each.type === type);

const timeOf = (text: string | null | undefined): number | undefined => {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
};
