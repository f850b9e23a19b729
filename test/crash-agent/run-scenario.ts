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
  tell(harness: Harness, fault?: Fault): Promise<void>;
}

interface ScenarioRun {
  /** Every effect of the first agent. */
  readonly points: readonly Point[];
  readonly struck: boolean;
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
    await scenario.tell(harness, fault).catch((error: unknown) => void problems.push(String(error)));
    const soiled = guests.soiled().map((vm) => `${vm} was booted from a disk that had been on before`);
    const all = [...problems, ...soiled, ...monitor.violations()];
    return {
      points: agents.points(),
      struck: agents.struck,
      problems: all,
      lines: agents.lines(),
      tookMs: systemClock.monotonic() - began,
    };
  } finally {
    await harness.stop();
  }
};
