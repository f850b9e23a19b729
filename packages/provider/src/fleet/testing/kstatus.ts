import type { MacFleet } from '@tartan/api';
import { isConditionTrue } from '@tartan/kube';

/**
 * What `helm --wait` makes of an object of a kind it does not know, in the order of kstatus (kstatus/status/{status,generic}.go): it waits
 * while it is InProgress, is content when it is Current, and gives up when it is Failed. An object without Ready is Current.
 */
export const kstatusOf = ({ metadata, status }: MacFleet): 'InProgress' | 'Failed' | 'Current' => {
  if (status?.observedGeneration !== undefined && status.observedGeneration !== metadata?.generation)
    return 'InProgress';
  if (isConditionTrue(status?.conditions, 'Reconciling')) return 'InProgress';
  if (isConditionTrue(status?.conditions, 'Stalled')) return 'Failed';
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready === undefined || ready.status === 'True' ? 'Current' : 'InProgress';
};
