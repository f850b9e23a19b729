import type { MacFleet } from '@tartan/api';
import { isConditionTrue } from '@tartan/kube';

/**
 * The kstatus of an object of an unknown kind (kstatus/status/{status,generic}.go): `helm --wait` waits while it is InProgress, succeeds
 * when it is Current, and fails when it is Failed. An object without Ready is Current.
 */
export const kstatusOf = ({ metadata, status }: MacFleet): 'InProgress' | 'Failed' | 'Current' => {
  if (status?.observedGeneration !== undefined && status.observedGeneration !== metadata?.generation)
    return 'InProgress';
  if (isConditionTrue(status?.conditions, 'Reconciling')) return 'InProgress';
  if (isConditionTrue(status?.conditions, 'Stalled')) return 'Failed';
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready === undefined || ready.status === 'True' ? 'Current' : 'InProgress';
};
