import { systemClock } from '@tartan/kube/clock';
import type { Fault, Point } from './agent/settings.ts';
import { createHarness, type Harness } from './harness.ts';

/** One scenario of Pods on a Mac, short enough to run a hundred times. It is the same whether or not an agent is killed in it. */
export interface Scenario {
  /** Its name in TARTAN_CRASH. */
  readonly key: string;
  readonly name: string;
  readonly collects?: boolean;
  /** Prepares the Mac before the first agent starts. */
  prepare?(harness: Harness): Promise<void>;
  /** Runs the scenario to its end. Reports errors in `harness.problems` or by rejecting. */
  run(harness: Harness, fault?: Fault): Promise<void>;
}

interface ScenarioRun {
  /** Every effect of the first agent. */
  readonly points: readonly Point[];
  readonly occurred: boolean;
  readonly problems: readonly string[];
  readonly lines: string;
  readonly tookMs: number;
}

/** Runs a scenario once, with or without that fault. */
export const runScenario = async (scenario: Scenario, program: string, fault?: Fault): Promise<ScenarioRun> => {
  const began = systemClock.monotonic();
  const harness = await createHarness({ program, collects: scenario.collects ?? false });
  const { agents, guests, monitor, problems } = harness;
  try {
    await scenario.prepare?.(harness);
    await scenario.run(harness, fault).catch((error: unknown) => void problems.push(String(error)));
    const reused = guests.bootedFromUsedDisk().map((vm) => `${vm} was booted from a used disk`);
    const all = [...problems, ...reused, ...monitor.violations()];
    return {
      points: agents.points(),
      occurred: agents.occurred,
      problems: all,
      lines: agents.lines(),
      tookMs: systemClock.monotonic() - began,
    };
  } finally {
    await harness.stop();
  }
};
