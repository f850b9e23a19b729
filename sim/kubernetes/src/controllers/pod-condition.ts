import { timestamp } from '@tartan/kube/clock';
import type { Condition, Pod, PodStatus } from './shapes.ts';

/** The Pod's status with that condition, or undefined when it says nothing new. The time of transition is that of the status alone. */
export const withPodCondition = (
  pod: Pod,
  condition: { type: string; status: string; reason: string; message: string },
  now: number,
): PodStatus | undefined => {
  const conditions = pod.status?.conditions ?? [];
  const old = conditions.find(({ type }) => type === condition.type);
  if (old && old.status === condition.status && old.reason === condition.reason && old.message === condition.message) {
    return undefined;
  }
  const updated: Condition = {
    ...condition,
    lastProbeTime: null,
    lastTransitionTime: old?.status === condition.status ? (old.lastTransitionTime ?? null) : timestamp(now),
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
  };
  return {
    ...pod.status,
    conditions: old ? conditions.map((entry) => (entry === old ? updated : entry)) : [...conditions, updated],
  };
};
