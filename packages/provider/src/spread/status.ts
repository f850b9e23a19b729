import { type EventReason, events } from '@tartan/api';
import type { Happening } from '@tartan/kube';

export const happeningOf = (ready: readonly string[]): Happening => {
  const reason: EventReason = 'FleetSpread';
  const [type] = events[reason];
  return {
    type,
    reason,
    message: `The set of Ready Macs has changed, so the Pods are rolled to spread over all of them. Ready now, ${ready.length} in all: ${ready.join(', ')}`,
  };
};
