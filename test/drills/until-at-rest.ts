import { setTimeout as pause } from 'node:timers/promises';
import type { Simulation } from '../../packages/cli/src/simulation/simulation.ts';
import { unrest } from './converged.ts';

/** A wipe that was refused, or whose manager was killed, is tried again after two minutes, and after four more. */
const patienceMs = 450_000;
const lookEveryMs = 250;

/** Until the fleet is at rest; what it is made of is told by many, so it is looked at again and again. */
export const untilAtRest = async (simulation: Simulation, after: string): Promise<void> => {
  const signal = AbortSignal.timeout(patienceMs);
  let problems: string[] = [];
  while (!signal.aborted) {
    problems = await unrest(simulation).catch((error: unknown) => [String(error)]);
    if (problems.length === 0) return;
    await pause(lookEveryMs);
  }
  throw new Error(`the fleet does not come to rest after ${after}:\n${problems.join('\n')}`);
};
