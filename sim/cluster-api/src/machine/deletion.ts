import type { ConditionUpdate } from '@tartan/kube';
import { isExternallyManaged } from '../external/contract.ts';
import { annotations, hooks } from '../names.ts';
import { drainMessage, type DrainPlan, isDrained } from './drain.ts';
import { type DeletionFacts, isDeleting, type Snapshot } from './snapshot.ts';

/** The next step of deleting a Machine. */
export type Deletion =
  | { kind: 'wait'; for: 'preDrainHooks' | 'preTerminateHooks'; hooks: readonly string[] }
  /** There is no connection to its Node, so the drain cannot begin. */
  | { kind: 'cannotDrain' }
  /** Keeps new Pods away during the drain and afterwards. */
  | { kind: 'cordon'; node: string }
  | { kind: 'drain'; plan: DrainPlan; unreachable: boolean }
  | { kind: 'deleteInfrastructure' }
  | { kind: 'waitForInfrastructure' }
  /** Only the Node is left, if core deletes it. */
  | { kind: 'finish'; node: string | undefined };

const hooksOf = (notes: Readonly<Record<string, string>> = {}, prefix: string): string[] =>
  Object.keys(notes)
    .filter((key) => key.startsWith(prefix))
    .sort();

/**
 * The Node that is deleted with the Machine. None while the Cluster is being deleted, and none if no control plane would be left to connect
 * to: core assumes that, unless control plane Machines are left or the control plane is externally managed.
 */
const nodeToDelete = (snapshot: Snapshot, leaving: DeletionFacts): string | undefined => {
  const { machine, cluster, nodes } = snapshot;
  const name = machine.status?.nodeRef?.name ?? nodes[0]?.metadata.name;
  if (isDeleting(cluster) || name === undefined) return undefined;
  const controlPlane = leaving.controlPlane?.object;
  if (controlPlane && isDeleting(controlPlane)) return undefined;
  const isThere = (controlPlane && isExternallyManaged(controlPlane)) || leaving.controlPlaneMachines > 0;
  return isThere ? name : undefined;
};

const drainTimedOut = ({ machine, now }: Snapshot): boolean => {
  const seconds = machine.spec?.deletion?.nodeDrainTimeoutSeconds ?? 0;
  const startedAt = machine.status?.deletion?.nodeDrainStartTime;
  return seconds > 0 && startedAt !== undefined && now - Date.parse(startedAt) >= seconds * 1000;
};

/** Whether to drain first. Not when the infrastructure is already being deleted. */
const shouldDrain = (snapshot: Snapshot): boolean => {
  const { machine, infrastructure } = snapshot;
  const object = infrastructure?.object;
  return (
    !(annotations.excludeNodeDraining in (machine.metadata.annotations ?? {})) &&
    machine.status?.deletion?.waitForPreTerminateHookStartTime === undefined &&
    object !== undefined &&
    !isDeleting(object) &&
    !drainTimedOut(snapshot)
  );
};

/** Pre-drain hooks, cordon, drain, pre-terminate hooks, infrastructure, Node: in that order, each after the one before is done. */
export const decideDeletion = (snapshot: Snapshot, leaving: DeletionFacts): Deletion => {
  const { machine, infrastructure, connected } = snapshot;
  const { annotations: notes } = machine.metadata;
  const node = nodeToDelete(snapshot, leaving);
  if (node !== undefined) {
    const preDrain = hooksOf(notes, hooks.preDrain);
    if (preDrain.length > 0) return { kind: 'wait', for: 'preDrainHooks', hooks: preDrain };
    if (shouldDrain(snapshot)) {
      if (!connected) return { kind: 'cannotDrain' };
      if (leaving.node?.cordoned === false) return { kind: 'cordon', node };
      const { drain: plan, unreachable = false } = leaving.node ?? {};
      if (plan && !isDrained(plan)) return { kind: 'drain', plan, unreachable };
    }
  }
  const preTerminate = hooksOf(notes, hooks.preTerminate);
  if (preTerminate.length > 0) return { kind: 'wait', for: 'preTerminateHooks', hooks: preTerminate };
  const object = infrastructure?.object;
  if (object) return isDeleting(object) ? { kind: 'waitForInfrastructure' } : { kind: 'deleteInfrastructure' };
  return { kind: 'finish', node };
};

/** The result of a step. */
export interface DeletionOutcome {
  readonly deletion: Deletion;
  /** Pods that were not evicted, and why. */
  readonly failures: ReadonlyMap<string, string>;
}

/** The condition Deleting of a Machine, as core sets it: the reason is the stage. */
export const deletingCondition = (
  { machine }: Pick<Snapshot, 'machine'>,
  outcome: DeletionOutcome | undefined,
): ConditionUpdate => {
  if (!outcome) return { type: 'Deleting', status: 'False', reason: 'NotDeleting' };
  const { deletion, failures } = outcome;
  const deleting = (reason: string, message: string): ConditionUpdate => ({
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
      return deleting(reason, `Waiting for ${before} hooks to succeed (hooks: ${deletion.hooks.join(',')})`);
    }
    case 'cannotDrain':
      return deleting('DrainingNode', 'Error draining Node, please check controller logs for errors');
    case 'cordon':
      return deleting('DrainingNode', `Drain not completed yet (started at ${startedAt}):`);
    case 'drain':
      return deleting('DrainingNode', drainMessage(deletion.plan, startedAt, failures));
    case 'deleteInfrastructure':
    case 'waitForInfrastructure':
      return deleting('WaitingForInfrastructureDeletion', `Waiting for ${infrastructure} to be deleted`);
    case 'finish':
      return deleting('DeletionCompleted', 'Deletion completed');
  }
};
