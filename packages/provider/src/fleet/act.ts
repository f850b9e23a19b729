import { buildDetailedEvent, labels, labelValues, macFleet, type MacFleet } from '@tartan/api';
import {
  type Client,
  deleteIfUnchanged,
  done,
  type EventRecorder,
  isKubeError,
  type Live,
  type Logger,
  type ObjectName,
  patchIfUnchanged,
  patchStatus,
  type ReconcileResult,
  requeueAfter,
  type Resource,
} from '@tartan/kube';
import type { CoreMachineDeployment } from '../core/kinds.ts';
import type { Decision } from './decide.ts';
import type { Scaling } from './machine-deployments.ts';
import type { Observation } from './observe.ts';
import { rollEvents, statusOf } from './status.ts';

export interface ActDeps {
  client: Client;
  machineDeploymentResource: Resource<CoreMachineDeployment>;
  events: Pick<EventRecorder, 'event'>;
  /** Called with a fleet after its status was written. */
  fleetWritten: (fleet: Live<MacFleet>) => void;
  log: Logger;
}

/** During a roll, the next step may depend on time alone. */
const rollRequeueMs = 15_000;

/** Without an owner: the fleet outlives the MachineDeployment that a template change replaces, and is deleted when it has no machines. */
export const createFleet = async (
  { client, log }: Pick<ActDeps, 'client' | 'log'>,
  name: ObjectName,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  const metadata = { ...name, labels: { [labels.managedBy]: labelValues.managedBy } };
  try {
    await client.create(macFleet.resource, macFleet.make({ metadata }), { signal });
  } catch (error) {
    // `spec.fleetName` of a machine can hold an invalid object name.
    if (isKubeError(error, 'invalid')) return { kind: 'terminal', error };
    throw error;
  }
  log.info('Made a MacFleet for machines that had none', { ...name });
  return done;
};

export const deleteFleet = async (
  { client, log }: Pick<ActDeps, 'client' | 'log'>,
  fleet: Live<MacFleet>,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  await deleteIfUnchanged(client, macFleet.resource, fleet, { signal });
  const { namespace, name } = fleet.metadata;
  log.info('Deleted a MacFleet without machines, which was made for some', { namespace, name });
  return done;
};

/** What `observe` returned for a fleet that exists. */
type ExistingFleet = Observation & { fleet: Live<MacFleet> };

/**
 * Grants and ends turns, and scales the MachineDeployment when `spec.replicas` has changed.
 * Flow: one patch of the status, then events for what it started or ended, then one patch of the MachineDeployment.
 * Guarantees: each patch holds the resource version that was judged, so two managers that both believe to be the leader share one budget,
 * and neither reverts a scaling that it has not seen: the later patch conflicts. Machines push only with a turn that they have read from
 * the server. The number of replicas and its record are one write, so a crash leaves both or neither.
 * Caveats: a crash between a patch and its events loses the events; the conditions report the same.
 */
export const applyRoll = async (
  actor: ActDeps,
  { fleet, deployment, snapshot }: ExistingFleet,
  roll: Extract<Decision, { kind: 'roll' }>,
  signal: AbortSignal,
): Promise<ReconcileResult> => {
  const { client, events, log } = actor;
  const status = statusOf(fleet, snapshot, roll);
  actor.fleetWritten(await patchStatus(client, macFleet.resource, fleet, status, { signal }));
  for (const event of rollEvents(fleet.status, status)) {
    const { namespace, name } = fleet.metadata;
    log.info('A roll has moved on', { namespace, name, reason: event.reason, message: event.message });
    events.event(fleet, event);
  }
  if (deployment && roll.scaling) await scale(actor, fleet, deployment, roll.scaling, signal);
  return roll.state === 'upToDate' ? done : requeueAfter(rollRequeueMs);
};

const scale = async (
  { client, machineDeploymentResource, events, log }: ActDeps,
  fleet: Live<MacFleet>,
  deployment: Live<CoreMachineDeployment>,
  { replicas, annotations }: Scaling,
  signal: AbortSignal,
): Promise<void> => {
  const change = { metadata: { annotations }, ...(replicas !== undefined && { spec: { replicas } }) };
  await patchIfUnchanged(client, machineDeploymentResource, deployment, change, { signal });
  if (replicas === undefined) return;
  const { metadata, spec } = deployment;
  const { namespace, name } = metadata;
  log.info('Scaled a MachineDeployment', { namespace, name, from: spec?.replicas, to: replicas });
  events.event(
    fleet,
    buildDetailedEvent('Scaled', `${name}: from ${spec?.replicas ?? 'an unknown number'} to ${replicas}.`),
  );
};
