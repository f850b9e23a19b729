import { type EventReason, events, finalizers, machine as machineKind } from '@tartan/api';
import { again, type Happening, isKubeError, removeFinalizer, settled } from '@tartan/kube';
import { endReservation } from '../../claim/index.ts';
import { done } from '../result.ts';
import { waits } from '../waits.ts';
import { cleanSlate } from './clean-slate.ts';
import { type Act, type Acted, callOf, lookAgain, statusIn } from './context.ts';
import { swap } from './escalation.ts';
import { dropHolder } from './let-go.ts';

/** The Mac goes back. Its controller wipes it; this machine waits until that has begun. */
export const release = (act: Act, poolPrefix: string, runnerLeft: string | undefined): Promise<Acted> => {
  const { name, namespace } = act.record.machine.metadata;
  if (runnerLeft !== undefined) act.world.log.warn('GitHub still lists the runner', { namespace, name, runnerLeft });
  return swap(act, { poolPrefix, reason: 'MachineDeleted' }, { result: done, next: again(waits.others) });
};

/** All that is left, and then the finalizer: nothing of the machine outlives it. */
export const cleanUp = async (act: Act): Promise<Acted> => {
  await act.announce();
  if (!(await isUnreserved(act))) return lookAgain;
  try {
    await dropHolder(act);
    await cleanSlate(act);
  } catch (error) {
    // Who waits for a deletion looks here, and not into a log.
    if (isKubeError(error, 'forbidden')) act.world.events.event(act.record.machine, deleteFailed(error.message));
    throw error;
  }
  await removeFinalizer(act.world.client, machineKind.resource, act.record.machine, finalizers.machine, callOf(act));
  return { result: done, next: settled, parted: true };
};

/** Another manager may be about to take the reserved Mac for this machine, and nobody would be left to give it back. */
const isUnreserved = async (act: Act): Promise<boolean> => {
  const { world, record, observation } = act;
  const { host } = observation;
  if (host === undefined || host.metadata.name !== statusIn(act).serverID) return true;
  if (host.spec.consumerRef?.uid === record.machine.metadata.uid) return true;
  return (await endReservation(world.client, record.machine, host, callOf(act))) === 'ended';
};

const deleteFailed = (message: string): Happening => {
  const reason: EventReason = 'DeleteFailed';
  return { type: events[reason][0], reason, message };
};
