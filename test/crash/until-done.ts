import { freeLease, type ManagerOptions, type World } from './world.ts';

/** Has a manager work until nothing is missing, then lets it go away in peace. For what comes before a story. */
export const untilDone = async (
  world: World,
  manager: ManagerOptions,
  missing: () => readonly string[],
  withinMs: number,
): Promise<void> => {
  const mortal = world.startManager(manager);
  const done = await world.time.pass(withinMs, () => missing().length === 0);
  if (!done) throw new Error(`${missing().join('; ')}\n${world.lines.slice(-30).join('')}`);
  // What follows from it, such as events and tokens that are not needed any more.
  await world.time.pass(60_000);
  mortal.kill();
  await freeLease(world.admin);
};
