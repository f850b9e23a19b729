import type { Fault, Point } from './agent/settings.ts';
import type { Story } from './story.ts';
import { createWorld } from './world.ts';

export interface Run {
  /** Every effect of the first agent. */
  readonly points: readonly Point[];
  readonly struck: boolean;
  readonly problems: readonly string[];
  readonly lines: string;
  readonly tookMs: number;
}

/** Tells a story once, with that fault or without. */
export const run = async (story: Story, program: string, fault?: Fault): Promise<Run> => {
  const began = performance.now();
  const world = await createWorld({ program, collects: story.collects ?? false });
  const { agents, guests, monitor, problems } = world;
  try {
    await story.prepare?.(world);
    await story.tell(world, fault).catch((error: unknown) => void problems.push(String(error)));
    const soiled = guests.soiled().map((vm) => `${vm} was booted from a disk that had been on before`);
    const all = [...problems, ...soiled, ...monitor.violations()];
    return {
      points: agents.points(),
      struck: agents.struck,
      problems: all,
      lines: agents.lines(),
      tookMs: performance.now() - began,
    };
  } finally {
    await world.stop();
  }
};
