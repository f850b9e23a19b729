import { type EventReason, events, finalizers } from '@tartan/api';
import type { Happening } from '@tartan/kube';
import type { Decision } from './decide.ts';

export type ReleaseCause = Extract<Decision, { kind: 'release' }>['because'];

export const happeningOf = (because: ReleaseCause, node: string | undefined, graceMs: number): Happening => {
  const reason: EventReason = 'FinalizerRemoved';
  const [type] = events[reason];
  const done = `Removed the finalizer ${finalizers.vmCleanup}`;
  const seconds = Math.round(graceMs / 1000);
  switch (because) {
    case 'nodeGone':
      return {
        type,
        reason,
        message: `${done}: the Node ${node ?? '(unknown)'} has been gone for more than ${seconds} s, so no agent is left to remove the VM of this Pod. If that Mac still runs, its agent collects the VM when it is back, and a wipe does in any case.`,
      };
    case 'neverBound':
      return {
        type,
        reason,
        message: `${done}: the Pod was deleted more than ${seconds} s ago and never had a Node, so there is no VM to remove.`,
      };
  }
};
