import { macFleet } from '@tartan/api';
import { isKubeError } from '@tartan/kube';
import { fleetNameOf } from '../../fleet/fleet-name.ts';
import { findTurn, type Turn } from '../../fleet/turn.ts';
import { type Act, callOf } from './context.ts';

/** The machine's turn as the server has it now: a cache may still show one that was taken away, and two would roll at once (invariant 9). */
export const turnNow = async (act: Act, hash: string | undefined): Promise<Turn | undefined> => {
  const { world, record } = act;
  const { namespace = '', uid } = record.machine.metadata;
  try {
    const name = { namespace, name: fleetNameOf(record.machine) };
    return findTurn(await world.client.get(macFleet.resource, name, callOf(act)), uid, hash);
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};
