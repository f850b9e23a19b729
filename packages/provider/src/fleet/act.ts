import { events as eventWords, labels, labelValues, macFleet, type MacFleet } from '@tartan/api';
import {
  again,
  type Client,
  type EventRecorder,
  isKubeError,
  type Live,
  type Logger,
  type ObjectName,
  type Outcome,
  type Resource,
  patchStatus,
  settled,
} from '@tartan/kube';
import type { CoreMachineDeployment } from '../core/machine-deployment.ts';
import type { Decision } from './decide.ts';
import type { Observation } from './observe.ts';
import type { Scaling } from './scale.ts';
import { happeningsOf, statusOf } from './status.ts';

export interface Actor {
  client: Client;
  machineDeploymentResource: Resource<CoreMachineDeployment>;
  events: Pick<EventRecorder, 'event'>;
  log: Logger;
}

/** Somebody else has written the fleet: look at what it is now. */
const conflictPauseMs = 1000;
/** While a roll is under way, time alone may change what is to be done. */
const lookAgainMs = 15_000;

const afterConflict = (error: unknown): Outcome => {
  if (isKubeError(error, 'conflict', 'notFound', 'alreadyExists')) return again(conflictPauseMs);
  throw error;
};

/** Without an owner: it outlives the MachineDeployment that a template change replaces, and goes when nobody is left. */
export const createFleet = async ({ client, log }: Actor, name: ObjectName, signal: AbortSignal): Promise<Outcome> => {
  const metadata = { ...name, labels: { [labels.managedBy]: labelValues.managedBy } };
  try {
    await client.create(macFleet.resource, macFleet.make({ metadata }), { signal });
  } catch (error) {
    // `spec.fleetName` of a machine can hold what no object may be called.
    if (isKubeError(error, 'invalid')) return { kind: 'stuck', error };
    return afterConflict(error);
  }
  log.info('Made a MacFleet for machines that had none', { ...name });
  return again(0);
};

export const deleteFleet = async (
  { client, log }: Actor,
  { metadata: { name, namespace = '', uid, resourceVersion } }: Live<MacFleet>,
  signal: AbortSignal,
): Promise<Outcome> => {
  try {
    await client.delete(macFleet.resource, { name, namespace }, { preconditions: { uid, resourceVersion }, signal });
  } catch (error) {
    return afterConflict(error);
  }
  log.info('Deleted a MacFleet without machines, which was made for some', { namespace, name });
  return settled;
};

/** What `observe` found, of a fleet that there is. */
type Found = Observation & { fleet: Live<MacFleet> };

/**
 * Gives and takes turns, and scales the MachineDeployment when `spec.replicas` has changed.
 *
 * Flow: one patch of the status, then events for what has begun or ended with it, then one patch of the MachineDeployment.
 * Guarantees: each patch holds the resource version of what was judged, so two managers that both believe to lead share one budget, and
 * neither undoes a scale that it has not seen: the later patch is refused. Machines push only with a turn that they have read from the
 * server. The number and the record of it are one write, so after a crash it is either done or done again.
 * Caveats: a crash between a patch and its events loses those; conditions say the same.
 */
export const carryOn = async (
  actor: Actor,
  { fleet, deployment, snapshot }: Found,
  roll: Extract<Decision, { kind: 'roll' }>,
  signal: AbortSignal,
): Promise<Outcome> => {
  const { client, events, log } = actor;
  const status = statusOf(fleet, snapshot, roll);
  try {
    await patchStatus(client, macFleet.resource, fleet, status, { signal });
    for (const happening of happeningsOf(fleet.status, status)) {
      const { namespace, name } = fleet.metadata;
      log.info('A roll has moved on', { namespace, name, reason: happening.reason, message: happening.message });
      events.event(fleet, happening);
    }
    if (deployment && roll.scaling) await scale(actor, fleet, deployment, roll.scaling, signal);
  } catch (error) {
    return afterConflict(error);
  }
  return roll.state === 'upToDate' ? settled : again(lookAgainMs);
};

const scale = async (
  { client, machineDeploymentResource, events, log }: Actor,
  fleet: Live<MacFleet>,
  { metadata: { name, namespace = '', uid, resourceVersion }, spec }: Live<CoreMachineDeployment>,
  { replicas, annotations }: Scaling,
  signal: AbortSignal,
): Promise<void> => {
  const body = {
    metadata: { uid, resourceVersion, annotations },
    ...(replicas !== undefined && { spec: { replicas } }),
  };
  await client.patch(machineDeploymentResource, { name, namespace }, { type: 'merge', body }, { signal });
  if (replicas === undefined) return;
  const [type, means] = eventWords.Scaled;
  const message = `${means} ${name}: from ${spec?.replicas ?? 'an unknown number'} to ${replicas}.`;
  log.info('Scaled a MachineDeployment', { namespace, name, from: spec?.replicas, to: replicas });
  events.event(fleet, { type, reason: 'Scaled', message });
};
