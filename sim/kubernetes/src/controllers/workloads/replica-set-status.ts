import { timestamp } from '@tartan/kube/clock';
import { type Condition, conditionOf, isFinished, isTerminating, type Pod } from '../shapes.ts';
import { isReady } from './pod-rank.ts';
import type { ReplicaSet, ReplicaSetStatus } from './shapes.ts';

/** Why Pods could not be made or removed. */
export interface ReplicaFailure {
  reason: 'FailedCreate' | 'FailedDelete';
  message: string;
}

export const isActive = (pod: Pod): boolean => !isFinished(pod) && !isTerminating(pod);

/** Milliseconds until a ready Pod counts as available; 0 when it does. */
export const untilAvailable = (pod: Pod, minReadySeconds: number, now: number): number => {
  if (minReadySeconds === 0) return 0;
  const since = Date.parse(conditionOf(pod, 'Ready')?.lastTransitionTime ?? '');
  return Number.isNaN(since) ? minReadySeconds * 1000 : Math.max(0, since + minReadySeconds * 1000 - now);
};

const failureCondition = (old: Condition | undefined, failure: ReplicaFailure, now: number): Condition =>
  old ?? { type: 'ReplicaFailure', status: 'True', lastTransitionTime: timestamp(now), ...failure };

const fits = (pod: Pod, replicaSet: ReplicaSet): boolean =>
  Object.entries(replicaSet.spec.template.metadata?.labels ?? {}).every(
    ([key, value]) => pod.metadata.labels?.[key] === value,
  );

/** What a ReplicaSet says of the Pods it has. The Pods are all that it owns, also those that have ended. */
export const replicaSetStatus = (
  replicaSet: ReplicaSet,
  pods: readonly Pod[],
  failure: ReplicaFailure | undefined,
  now: number,
): ReplicaSetStatus => {
  const { minReadySeconds = 0 } = replicaSet.spec;
  const active = pods.filter(isActive);
  const ready = active.filter(isReady);
  const conditions = replicaSet.status.conditions ?? [];
  const others = conditions.filter(({ type }) => type !== 'ReplicaFailure');
  const old = conditions.find(({ type }) => type === 'ReplicaFailure');
  const next = failure ? [...others, failureCondition(old, failure, now)] : others;
  return {
    replicas: active.length,
    fullyLabeledReplicas: active.filter((pod) => fits(pod, replicaSet)).length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => untilAvailable(pod, minReadySeconds, now) === 0).length,
    terminatingReplicas: pods.filter((pod) => isTerminating(pod) && !isFinished(pod)).length,
    observedGeneration: replicaSet.metadata.generation ?? 0,
    ...(next.length > 0 ? { conditions: next } : {}),
  };
};
