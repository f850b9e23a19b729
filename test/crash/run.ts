import { type Fault, type Point, pointText } from './faults.ts';
import { minutes, type Scenario } from './scenario.ts';
import { type Copy, createWorld, type World } from './world.ts';

export interface Run {
  /** Every effect of the manager that met the fault, or of the only one. */
  readonly points: readonly Point[];
  readonly problems: readonly string[];
  readonly lines: readonly string[];
  readonly tookMs: number;
}

/** Nothing of it comes undone afterwards. */
const calmMs = minutes(3);

/** How a story begins. */
export const prepared = async ({ prepare }: Scenario): Promise<Copy> => {
  const world = await createWorld();
  try {
    await prepare(world);
    return world.copy();
  } finally {
    world.stop();
  }
};

/** Tells a story once, with that fault or without. */
export const run = async (told: Scenario, beginning: Copy, fault?: Fault, talkative = false): Promise<Run> => {
  // Errors hold what was sent when a server repeats it: then everything is said, to see that none of that is.
  const isTelling = talkative || fault?.mode === 'refused' || fault?.mode === 'conflict';
  const scenario = { ...told, manager: { ...told.manager, talkative: isTelling } };
  const began = performance.now();
  const world = await createWorld(beginning);
  const problems: string[] = [];
  try {
    const first = world.startManager({ ...scenario.manager, fault });
    problems.push(...(await tell(scenario, world, first, fault)));
    world.monitor.atTheEnd();
    problems.push(...world.monitor.violations, ...world.refused.map((what) => `it may not ${what}`));
    return { points: first.watch.points, problems, lines: world.lines, tookMs: performance.now() - began };
  } finally {
    world.stop();
  }
};

type Manager = ReturnType<World['startManager']>;

const tell = async (scenario: Scenario, world: World, first: Manager, fault?: Fault): Promise<string[]> => {
  const { time } = world;
  const isDone = (): boolean => scenario.missing(world).length === 0;
  const struckDown = (): boolean => first.state !== 'alive';
  await time.pass(scenario.withinMs, () => struckDown() || isDone());
  if (struckDown()) {
    const second = world.startManager(scenario.manager);
    if (first.state === 'frozen') {
      await time.pass(scenario.withinMs, () => world.leader() === second.identity);
      first.thaw();
    }
    await time.pass(scenario.withinMs, isDone);
  }
  const problems = scenario.missing(world).map((what) => `not reached: ${what}`);
  await time.pass(calmMs);
  if (problems.length === 0) problems.push(...scenario.missing(world).map((what) => `came undone: ${what}`));
  if (fault !== undefined && !first.watch.struck) problems.push(`nobody came to ${pointText(fault)}`);
  return problems;
};
