import { annotations, macFleet } from '@tartan/api';
import { ignoreNotFound, nodes, patchIfUnchanged } from '@tartan/kube';
import { findTurn, fleetNameOf, type Turn } from '../../fleet/turns.ts';
import { type Decision } from '../decision.ts';
import { waitsForIdle } from '../last-attempt.ts';
import { afterRoll, afterRollBack, withoutRollFailure } from '../status/transitions.ts';
import { type ActContext, type ActionOutput, callOptions, requeue, requeueStale } from '../options.ts';
import { push, pushed, runnerTokenSource, withPushSlot } from './push.ts';

/** Pushes the desired state. Only changed steps run; those that would disturb virtual machines wait for a cordon. */
export const roll = (context: ActContext, { hash, idle }: Extract<Decision, { kind: 'roll' }>): Promise<ActionOutput> =>
  withPushSlot(context, { task: 'Update' }, async () => {
    const { deps, patcher, observation } = context;
    const { plan, snapshot } = observation;
    const turn = await readTurn(context, hash);
    if (turn === undefined || turn.rollBack === true || plan?.kind !== 'planned') return requeueStale;

    const { spec, secrets } = plan;
    const { onDemandSecrets } = runnerTokenSource(context);
    const outcome = await push(context, { kind: 'converge', mode: 'changed', spec, secrets, onDemandSecrets, idle });
    const { policy } = snapshot;
    await patcher.updateStatus((status) => afterRoll(status, outcome, { hash, now: deps.clock.now(), policy }));
    if (waitsForIdle(outcome)) await cordon(context, hash);
    return pushed(outcome);
  });

/** The refusal was of another hash, or is old. */
export const clearFailedRoll = async (context: ActContext): Promise<ActionOutput> => {
  await context.patcher.updateStatus(withoutRollFailure);
  return requeue(0);
};

/** Restores the agent that ran before the last roll, when the fleet says so. */
export const rollBack = (context: ActContext, hash: string): Promise<ActionOutput> =>
  withPushSlot(context, { task: 'RollBack' }, async () => {
    const turn = await readTurn(context, hash);
    if (turn?.rollBack !== true || turn.hash !== hash) return requeueStale;
    const outcome = await push(context, { kind: 'roll back' });
    await context.patcher.updateStatus((status) =>
      afterRollBack(status, outcome, { hash, now: context.deps.clock.now() }),
    );
    return pushed(outcome);
  });

/** A live read of the machine's turn: a cache may still show a turn that has ended, and two machines would roll at once. */
const readTurn = async (context: ActContext, hash: string | undefined): Promise<Turn | undefined> => {
  const { deps, patcher } = context;
  const { namespace = '', uid } = patcher.machine.metadata;
  const name = { namespace, name: fleetNameOf(patcher.machine) };
  const fleet = await ignoreNotFound(deps.client.get(macFleet.resource, name, callOptions(context)));
  return fleet && findTurn(fleet, uid, hash);
};

/**
 * Keeps Pods off the Node until its Mac is idle. A Node that a user has cordoned is left as it is, without our annotation: we must not
 * uncordon it.
 */
const cordon = async (context: ActContext, hash: string): Promise<void> => {
  const { deps, patcher } = context;
  const { name } = patcher.machine.metadata;
  const node = await deps.client.get(nodes, { name }, callOptions(context));
  if (annotations.cordonedForRoll in (node.metadata.annotations ?? {}) || node.spec?.unschedulable === true) return;
  const change = { metadata: { annotations: { [annotations.cordonedForRoll]: hash } }, spec: { unschedulable: true } };
  await patchIfUnchanged(deps.client, nodes, node, change, callOptions(context));
};

/** Removes a cordon that has our annotation, in one guarded write, so that a user's cordon stays. */
export const uncordon = async (context: ActContext): Promise<ActionOutput> => {
  const { deps, patcher } = context;
  const { name } = patcher.machine.metadata;
  const node = await ignoreNotFound(deps.client.get(nodes, { name }, callOptions(context)));
  if (node !== undefined && annotations.cordonedForRoll in (node.metadata.annotations ?? {})) {
    const metadata = { annotations: { [annotations.cordonedForRoll]: null } };
    const change = { metadata, spec: { unschedulable: null } };
    await ignoreNotFound(patchIfUnchanged(deps.client, nodes, node, change, callOptions(context)));
  }
  return requeue(0);
};
