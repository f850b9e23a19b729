import { again } from '@tartan/kube';
import { done } from '../result.ts';
import { waits } from '../waits.ts';
import { type Act, type Acted, callOf } from './context.ts';

/** Takes the runner off the list at GitHub, which gives it no job from then on. What came of it is seen by the next look. */
export const removeRunner = async (act: Act, id: number): Promise<Acted> => {
  const { world, record } = act;
  world.gate.pass();
  const seen = await world.builderRunners.remove(record.machine, id, callOf(act));
  return { result: done, next: again(seen.kind === 'none' ? 0 : waits.others) };
};
