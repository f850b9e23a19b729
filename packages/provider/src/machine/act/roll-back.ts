import { again } from '@tartan/kube';
import { afterRollBack } from '../memory.ts';
import { type Act, type Acted, lookAgain } from './context.ts';
import { push } from './push.ts';
import { pauseAfter } from './roll.ts';
import { turnNow } from './turn.ts';
import { withSlot } from './with-slot.ts';

/** Puts the agent back that ran before the last roll, when the fleet says so. */
export const rollBack = (act: Act, hash: string): Promise<Acted> =>
  withSlot(act, async () => {
    const turn = await turnNow(act, hash);
    if (turn?.rollBack !== true || turn.hash !== hash) return lookAgain;
    const outcome = await push(act, { kind: 'roll back' });
    await act.record.write((status) => afterRollBack(status, outcome, { hash, now: act.world.clock.now() }));
    return { result: { kind: 'worked', outcome }, next: again(pauseAfter(act, outcome)) };
  });
