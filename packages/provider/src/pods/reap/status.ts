import { type EventReason, events } from '@tartan/api';
import type { Happening, Live } from '@tartan/kube';
import type { Pod } from '../observe.ts';

export type ReapedPhase = 'succeeded' | 'failed';

export const phaseOf = ({ status }: Live<Pod>): ReapedPhase => (status?.phase === 'Failed' ? 'failed' : 'succeeded');

export const happeningOf = (node: string): Happening => {
  const reason: EventReason = 'PodReaped';
  const [type, means] = events[reason];
  return { type, reason, message: `${means} The Machine behind the Node ${node} is being deleted.` };
};
