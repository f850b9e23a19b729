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

/** Releases the Mac. The MacHost controller wipes it; this machine waits until that has begun. */
export const release = (
  context: ActContext,
  poolPrefix: string,
  runnerLeft: string | undefined,
): Promise<ActionOutput> => {
  const { name, namespace } = context.patcher.machine.metadata;
  if (runnerLeft !== undefined) context.deps.log.warn('GitHub still lists the runner', { namespace, name, runnerLeft });
  return requestRelease(context, { poolPrefix, reason: 'MachineDeleted' }, requeue(intervals.resync));
};

/** Deletes all that is left, and then the finalizer: nothing outlives the machine. */
export const cleanUp = async (context: ActContext): Promise<ActionOutput> => {
  await context.reportStarted();
  if (!(await endOwnReservation(context))) return requeueStale;
  try {
    await clearConsumerRef(context);
    await deleteHostObjects(context);
  } catch (error) {
    // A user who waits for a deletion looks at events, not at logs.
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

/** Another manager may be about to claim the reserved Mac for this machine, and nothing would release it. */
const endOwnReservation = async (context: ActContext): Promise<boolean> => {
  const { deps, patcher, observation } = context;
  const { host } = observation;
  if (host === undefined || host.metadata.name !== currentStatus(context).serverID) return true;
  if (host.spec.consumerRef?.uid === patcher.machine.metadata.uid) return true;
  return (await endReservation(deps.client, patcher.machine, host, callOptions(context))) === 'ended';
};

/** Removes the runner at GitHub, which assigns it no job from then on. The next pass sees the result. */
export const removeRunner = async (context: ActContext, id: number): Promise<ActionOutput> => {
  const { deps, patcher } = context;
  deps.gate.pass();
  const seen = await deps.builderRunners.remove(patcher.machine, id, callOptions(context));
  return requeue(seen.kind === 'none' ? 0 : intervals.poll);
};

/**
 * The machine does not hold the Mac (any more). Deletes what belongs to it, then what the status records of it: the reservation last,
 * guarded by the version of the machine. So a crash in between leads here again.
 */
export const detachHost = async (context: ActContext): Promise<ActionOutput> => {
  const { patcher } = context;
  await deleteHostObjects(context);
  await clearConsumerRef(context);
  if (patcher.machine.spec.providerID) await patcher.patchGuarded({ spec: { providerID: null } });
  await patcher.updateStatusGuarded(forgetHost);
  return requeue(intervals.conflict);
};

/** A server that is gone cannot be released. Its MacHost is deleted once it has no holder. */
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
 * Deletes all objects of one Mac: join token, login, Node. Idempotent. Credentials go first. Cluster API deletes the Node of a Machine
 * itself, but neither when its Cluster is deleted, nor when the machine only changes its Mac.
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

/** Only a Node with the provider ID of this Mac: another Node may have got its name. */
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
