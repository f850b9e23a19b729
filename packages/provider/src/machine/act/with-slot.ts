import { again } from '@tartan/kube';
import { noSlot } from '../result.ts';
import { waits } from '../waits.ts';
import type { Act, Acted } from './context.ts';

/**
 * For what works on a Mac: at most so many at a time, and users see that it has begun. Who does not lead any more begins nothing: a
 * manager that was frozen would else make join credentials and push them beside its successor.
 */
export const withSlot = async (act: Act, work: () => Promise<Acted>): Promise<Acted> => {
  const giveBack = act.world.slots.take();
  if (giveBack === undefined) return { result: noSlot, next: again(waits.slot) };
  try {
    act.world.gate.pass();
    await act.announce();
    return await work();
  } finally {
    giveBack();
  }
};
