import type { ConditionUpdate } from '@tartan/kube';
import { drainMessage } from '../drain/plan-drain.ts';
import type { Deletion } from './decide-deletion.ts';
import type { Snapshot } from './snapshot.ts';

/** What came of the step that was decided on. */
export interface DeletionOutcome {
  readonly deletion: Deletion;
  /** Pods that were not evicted, and why. */
  readonly failures: ReadonlyMap<string, string>;
}

/** What core says of a Machine that goes, step by step: the reason is the stage. */
export const deletingCondition = (
  { machine }: Pick<Snapshot, 'machine'>,
  outcome: DeletionOutcome | undefined,
): ConditionUpdate => {
  if (!outcome) return { type: 'Deleting', status: 'False', reason: 'NotDeleting' };
  const { deletion, failures } = outcome;
  const stage = (reason: string, message: string): ConditionUpdate => ({
    type: 'Deleting',
    status: 'True',
    reason,
    message,
  });
  const startedAt = machine.status?.deletion?.nodeDrainStartTime ?? '';
  const infrastructure = machine.spec?.infrastructureRef?.kind ?? 'infrastructure';
  switch (deletion.kind) {
    case 'wait': {
      const before = deletion.for === 'preDrainHooks' ? 'pre-drain' : 'pre-terminate';
      const reason = deletion.for === 'preDrainHooks' ? 'WaitingForPreDrainHook' : 'WaitingForPreTerminateHook';
      return stage(reason, `Waiting for ${before} hooks to succeed (hooks: ${deletion.hooks.join(',')})`);
    }
    case 'cannotDrain':
      return stage('DrainingNode', 'Error draining Node, please check controller logs for errors');
    case 'cordon':
      return stage('DrainingNode', `Drain not completed yet (started at ${startedAt}):`);
    case 'drain':
      return stage('DrainingNode', drainMessage(deletion.plan, startedAt, failures));
    case 'deleteInfrastructure':
    case 'waitForInfrastructure':
      return stage('WaitingForInfrastructureDeletion', `Waiting for ${infrastructure} to be deleted`);
    case 'finish':
      return stage('DeletionCompleted', 'Deletion completed');
  }
};
