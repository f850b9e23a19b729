import { buildEvent, finalizers, machine as machineKind, macHost, secretNames } from '@tartan/api';
import { done, ignoreNotFound, isKubeError, nodes, patchIfUnchanged, removeFinalizer } from '@tartan/kube';
import { endReservation } from '../../claim/claim-host.ts';
import { deleteMachineSecret } from '../../host-work/secrets.ts';
import { deleteJoinToken } from '../../identity/join-token.ts';
import { succeeded } from '../decision.ts';
import { secretClaimant } from '../observe.ts';
import { providerIDOf } from '../observe/node.ts';
import { intervals } from '../requeue.ts';
import { forgetHost } from '../status/transitions.ts';
import {
  type ActContext,
  type ActionOutput,
  callOptions,
  currentStatus,
  requeue,
  requeueStale,
  secretLocation,
} from '../options.ts';
import { requestRelease } from './remediation.ts';

/** The Mac goes back. Its controller wipes it; this machine waits until that has begun. */
export const release = (
  context: ActContext,
  poolPrefix: string,
  runnerLeft: string | undefined,
): Promise<ActionOutput> => {
  const { name, namespace } = context.patcher.machine.metadata;
  if (runnerLeft !== undefined) context.deps.log.warn('GitHub still lists the runner', { namespace, name, runnerLeft });
  return requestRelease(context, { poolPrefix, reason: 'MachineDeleted' }, requeue(intervals.otherController));
};

/** All that is left, and then the finalizer: nothing of the machine outlives it. */
export const cleanUp = async (context: ActContext): Promise<ActionOutput> => {
  await context.reportStarted();
  if (!(await endOwnReservation(context))) return requeueStale;
  try {
    await clearConsumerRef(context);
    await deleteHostObjects(context);
  } catch (error) {
    // Who waits for a deletion looks here, and not into a log.
    if (isKubeError(error, 'forbidden'))
      context.deps.events.event(context.patcher.machine, buildEvent('DeleteFailed', error.message));
    throw error;
  }
  await removeFinalizer(
    context.deps.client,
    machineKind.resource,
    context.patcher.machine,
    finalizers.machine,
    callOptions(context),
  );
  return { result: succeeded, next: done, finalizerRemoved: true };
};

/** Another manager may be about to take the reserved Mac for this machine, and nobody would be left to give it back. */
const endOwnReservation = async (context: ActContext): Promise<boolean> => {
  const { deps, patcher, observation } = context;
  const { host } = observation;
  if (host === undefined || host.metadata.name !== currentStatus(context).serverID) return true;
  if (host.spec.consumerRef?.uid === patcher.machine.metadata.uid) return true;
  return (await endReservation(deps.client, patcher.machine, host, callOptions(context))) === 'ended';
};

/** Takes the runner off the list at GitHub, which gives it no job from then on. What came of it is seen by the next look. */
export const removeRunner = async (context: ActContext, id: number): Promise<ActionOutput> => {
  const { deps, patcher } = context;
  deps.gate.pass();
  const seen = await deps.builderRunners.remove(patcher.machine, id, callOptions(context));
  return requeue(seen.kind === 'none' ? 0 : intervals.otherController);
};

/**
 * The Mac is not this machine's (any more). What belonged to it goes, then what the machine remembers of it: the reservation last, and
 * only if the machine is as it was when the Mac was looked at. So a crash on the way leads here again.
 */
export const detachHost = async (context: ActContext): Promise<ActionOutput> => {
  const { patcher } = context;
  await deleteHostObjects(context);
  await clearConsumerRef(context);
  if (patcher.machine.spec.providerID) await patcher.patchGuarded({ spec: { providerID: null } });
  await patcher.updateStatusGuarded(forgetHost);
  return requeue(intervals.conflict);
};

/** A server that is gone cannot be given back. Its MacHost goes once nobody holds it. */
const clearConsumerRef = async (context: ActContext): Promise<void> => {
  const { deps, patcher, observation } = context;
  const { host } = observation;
  const { host: facts } = observation.snapshot;
  if (host === undefined || facts.kind !== 'present' || !facts.gone) return;
  if (host.spec.consumerRef?.uid !== patcher.machine.metadata.uid) return;
  const change = { spec: { consumerRef: null, reboot: null } };
  await patchIfUnchanged(deps.client, macHost.resource, host, change, callOptions(context));
};

/**
 * Deletes all that speaks for one Mac: what it joins with, how to log in, its Node. Idempotent. What gives rights goes first.
 * Cluster API deletes the Node of a Machine itself, but neither when its Cluster goes, nor when the machine only changes its Mac.
 */
const deleteHostObjects = async (context: ActContext): Promise<void> => {
  const { joinTokenID } = currentStatus(context);
  if (joinTokenID !== undefined) await deleteJoinToken(context.deps.client, joinTokenID, callOptions(context));
  await deleteSecret(context);
  await deleteNode(context);
};

const deleteSecret = async (context: ActContext): Promise<void> => {
  const { deps, patcher } = context;
  const place = secretLocation(context);
  const claimant = secretClaimant(deps, patcher.machine);
  if ((await deleteMachineSecret(deps.client, place, claimant, callOptions(context))) === 'foreign')
    reportKeptSecret(context, secretNames.machine(place.machine));
};

/** Only a Node that says that it is this very Mac: another one may have got its name. */
const deleteNode = async (context: ActContext): Promise<void> => {
  const { deps, patcher } = context;
  const { name } = patcher.machine.metadata;
  const ours = providerIDOf(patcher.machine);
  const node = await ignoreNotFound(deps.client.get(nodes, { name }, callOptions(context)));
  if (node === undefined || ours === undefined || node.spec?.providerID !== ours) return;
  const preconditions = { uid: node.metadata.uid };
  await ignoreNotFound(deps.client.delete(nodes, { name }, { ...callOptions(context), preconditions }));
};

const reportKeptSecret = ({ deps, patcher }: ActContext, secretName: string): void => {
  const { namespace } = secretLocation({ deps, patcher });
  const message = `The Secret ${namespace}/${secretName} has the name of this machine, and nothing proves that it is this machine's. It is left alone. Delete it if nobody needs it.`;
  deps.log.warn('Left a Secret alone that may be of another machine', { namespace, secretName });
  deps.events.event(patcher.machine, buildEvent('SecretKept', message));
};
