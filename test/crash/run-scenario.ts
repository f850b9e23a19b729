import { systemClock } from '@tartan/kube/clock';
import { type Fault, type Point, pointText } from './faults.ts';
import { createHarness, type Harness, type HarnessState, type ManagerOptions } from './harness.ts';

interface ScenarioRun {
  /** Every effect of the manager with the fault, or of the only manager. */
  readonly points: readonly Point[];
  readonly problems: readonly string[];
  readonly lines: readonly string[];
  readonly tookMs: number;
}

export const minutes = (count: number): number => count * 60_000;

/** How long the final state must last. */
const stableMs = minutes(3);

/** The initial state of a scenario. */
export const prepareScenario = async ({ prepare }: Scenario): Promise<HarnessState> => {
  const harness = await createHarness();
  try {
    await prepare(harness);
    return harness.copy();
  } finally {
    harness.stop();
  }
};

/** Runs a scenario once, with or without that fault. */
export const runScenario = async (
  chosen: Scenario,
  beginning: HarnessState,
  fault?: Fault,
  verbose = false,
): Promise<ScenarioRun> => {
  // Servers echo requests in these errors: then everything is logged, to check that no secret is.
  const logsEverything = verbose || fault?.mode === 'refused' || fault?.mode === 'conflict';
  const scenario = { ...chosen, manager: { ...chosen.manager, verbose: logsEverything } };
  const began = systemClock.monotonic();
  const harness = await createHarness(beginning);
  const problems: string[] = [];
  try {
    const first = harness.startManager({ ...scenario.manager, fault });
    problems.push(...(await runToEnd(scenario, harness, first, fault)));
    harness.monitor.atTheEnd();
    problems.push(...harness.monitor.violations, ...harness.refused.map((what) => `it may not ${what}`));
    return { points: first.watch.points, problems, lines: harness.lines, tookMs: systemClock.monotonic() - began };
  } finally {
    harness.stop();
  }
};

type Manager = ReturnType<Harness['startManager']>;

const runToEnd = async (scenario: Scenario, harness: Harness, first: Manager, fault?: Fault): Promise<string[]> => {
  const { time } = harness;
  const isDone = (): boolean => scenario.missing(harness).length === 0;
  const isDown = (): boolean => first.state !== 'alive';
  await time.pass(scenario.withinMs, () => isDown() || isDone());
  if (isDown()) {
    const second = harness.startManager(scenario.manager);
    if (first.state === 'frozen') {
      await time.pass(scenario.withinMs, () => harness.leader() === second.identity);
      first.thaw();
    }
    await time.pass(scenario.withinMs, isDone);
  }
  const problems = scenario.missing(harness).map((what) => `not reached: ${what}`);
  await time.pass(stableMs);
  if (problems.length === 0) problems.push(...scenario.missing(harness).map((what) => `did not last: ${what}`));
  if (fault !== undefined && !first.watch.occurred) problems.push(`no manager reached ${pointText(fault)}`);
  return problems;
};

/** One scenario of machines and Macs, short enough to run a hundred times. */
export interface Scenario {
  /** Its name in TARTAN_CRASH. */
  readonly key: string;
  /** Most of it is also in earlier scenarios: only new kinds of effects are tried. */
  readonly mostlyKnown?: boolean;
  readonly name: string;
  /** Prepares the harness before the manager starts. Runs once; every run starts with a copy. */
  prepare(harness: Harness): Promise<void>;
  readonly manager: ManagerOptions;
  /** What is missing for the end of the scenario, as sentences. Empty: it has ended. */
  missing(harness: Harness): readonly string[];
  /** Virtual time in which it must end, from the start of the last manager. */
  readonly withinMs: number;
}
