import { timestamp } from '@tartan/kube/clock';
import type { KubeObject } from '../../object.ts';
import { childOf, type Fields, objectsOf } from '../fields.ts';

export interface PodCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
}

/** Sets a condition; its time moves only with its status. */
export const setPodCondition = (pod: KubeObject, condition: PodCondition, now: number): void => {
  const status = childOf(pod, 'status');
  const conditions = objectsOf(status['conditions']);
  const index = conditions.findIndex(({ type }) => type === condition.type);
  const previous = conditions[index];
  const unchanged = previous?.['status'] === condition.status;
  const next: Fields = {
    type: condition.type,
    status: condition.status,
    lastProbeTime: null,
    lastTransitionTime: unchanged ? (previous?.['lastTransitionTime'] ?? null) : timestamp(now),
    ...(condition.reason === undefined ? {} : { reason: condition.reason }),
    ...(condition.message === undefined ? {} : { message: condition.message }),
  };
  status['conditions'] = index === -1 ? [...conditions, next] : conditions.with(index, next);
};
