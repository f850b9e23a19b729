import { labels, labelValues, macFleet, type MacFleet } from '@tartan/api';
import {
  again,
  type Client,
  type EventRecorder,
  isKubeError,
  type Live,
  type Logger,
  type ObjectName,
  type Outcome,
  patchStatus,
  settled,
} from '@tartan/kube';
import type { Decision, Snapshot } from './decide.ts';
import { happeningsOf, statusOf } from './status.ts';

export interface Actor {
  client: Client;
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

/**
 * Gives and takes turns.
 *
 * Flow: one patch of the status, then events for what has begun or ended with it.
 * Guarantees: the patch holds the resource version of the fleet that was judged, so two managers that both believe to lead share one
 * budget: the second one's patch is refused. Machines push only with a turn that they have read from the server.
 * Caveats: a crash between the patch and its events loses those; conditions say the same.
 */
export const carryOn = async (
  { client, events, log }: Actor,
  fleet: Live<MacFleet>,
  snapshot: Snapshot,
  roll: Extract<Decision, { kind: 'roll' }>,
  signal: AbortSignal,
): Promise<Outcome> => {
  const status = statusOf(fleet, snapshot, roll);
  try {
    await patchStatus(client, macFleet.resource, fleet, status, { signal });
  } catch (error) {
    return afterConflict(error);
  }
  for (const happening of happeningsOf(fleet.status, status)) {
    const { namespace, name } = fleet.metadata;
    log.info('A roll has moved on', { namespace, name, reason: happening.reason, message: happening.message });
    events.event(fleet, happening);
  }
  return roll.state === 'upToDate' ? settled : again(lookAgainMs);
};
