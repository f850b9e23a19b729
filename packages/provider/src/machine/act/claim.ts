import { again } from '@tartan/kube';
import { reserveHost, takeHost } from '../../claim/index.ts';
import { done, notAnyMore } from '../result.ts';
import { waits } from '../waits.ts';
import { type Act, type Acted, callOf, lookAgain, statusIn } from './context.ts';
import { letGo } from './let-go.ts';

/** Compare-and-swap 1: the machine names the Mac, before the Mac names the machine. */
export const reserve = async (act: Act): Promise<Acted> => {
  const { world, record, observation } = act;
  if (observation.host === undefined) return lookAgain;
  const reservation = await reserveHost(world.client, record.machine, observation.host, callOf(act));
  if (reservation.kind === 'tryAgain') return lookAgain;
  record.wrote(reservation.machine);
  return { result: done, next: again(0) };
};

/** Compare-and-swap 2. Who loses it gives the reservation up, or the machine would wait for somebody else's Mac. */
export const take = async (act: Act): Promise<Acted> => {
  const { world, record, observation } = act;
  const { host, wanted, snapshot } = observation;
  const taking = { machine: record.machine, wanted, host, now: snapshot.now };
  const outcome = await takeHost(world.client, { ...taking, ...callOf(act) });
  switch (outcome.kind) {
    case 'taken':
      record.wrote(outcome.machine);
      return { result: done, next: again(0) };
    case 'tryAgain':
      return lookAgain;
    case 'lost':
      // One that was made ready keeps its server for ever, whoever has it: the next look says so.
      if (statusIn(act).initialization?.provisioned === true) return { result: notAnyMore, next: again(waits.others) };
      return { ...(await letGo(act)), result: notAnyMore };
  }
};
