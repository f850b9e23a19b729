import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Mode, modes, type Point, pointText } from './faults.ts';
import type { HarnessState } from './harness.ts';
import { prepareScenario, runScenario, type Scenario } from './run-scenario.ts';
import { scenarios } from './scenarios/index.ts';
import { createSelection, kindOf } from './selection.ts';

/**
 * Managers that are killed, frozen or cut off at every effect on Kubernetes, Scaleway and Macs. Their successors have to bring the scenario
 * to the same end, without breaking an invariant (docs/architecture: 1 to 4, 7 to 9, 11, 15).
 *   TARTAN_CRASH=all                      tries every point, not only one of each kind. Takes minutes.
 *   TARTAN_CRASH='claim/killed after/12'  tries one, and shows the output of its managers.
 */
const wanted = process.env['TARTAN_CRASH'] ?? '';
const one = /^(?<key>\w+)\/(?<mode>[a-z ]+)\/(?<index>\d+)$/.exec(wanted)?.groups;

interface FaultFreeRun {
  readonly beginning: HarnessState;
  readonly points: readonly Point[];
}

const runWithoutFault = async (scenario: Scenario): Promise<FaultFreeRun> => {
  const beginning = await prepareScenario(scenario);
  const { points, problems } = await runScenario(scenario, beginning);
  assert.deepEqual(problems, [], `${scenario.name}, without any fault`);
  return { beginning, points };
};

/** The problems at one point, with what is needed to reproduce them. */
const problemsAt = async (scenario: Scenario, run: FaultFreeRun, mode: Mode, index: number): Promise<string[]> => {
  const point = run.points[index];
  if (point === undefined) return [`${scenario.key} has no point ${index}, but ${run.points.length}`];
  const { problems, lines } = await runScenario(scenario, run.beginning, { ...point, mode }, one !== undefined);
  if (one) process.stderr.write(lines.join(''));
  if (problems.length === 0) return [];
  const replay = `TARTAN_CRASH='${scenario.key}/${mode}/${index}' npm test`;
  return [`${mode}: ${pointText(point)}\n    ${problems.join('\n    ')}\n    see it again: ${replay}`];
};

describe('a manager that crashes at any point', () => {
  const runs = new Map<Scenario, FaultFreeRun>();
  const selection = createSelection(wanted === 'all');
  const kinds = new Set<string>();
  before(async () => {
    for (const scenario of scenarios) {
      if (one && one['key'] !== scenario.key) continue;
      const run = await runWithoutFault(scenario);
      runs.set(scenario, run);
      for (const point of run.points) kinds.add(kindOf(point));
    }
  });

  test('enough kinds of effects are covered', { skip: one !== undefined }, () => {
    assert.ok(kinds.size >= 60, `${kinds.size} kinds of effects: ${[...kinds].sort().join('\n')}`);
  });

  for (const scenario of scenarios)
    describe(scenario.name, { skip: one !== undefined && one['key'] !== scenario.key }, () => {
      for (const mode of modes)
        test(mode, { skip: one !== undefined && one['mode'] !== mode }, async (t) => {
          const run = runs.get(scenario);
          assert.ok(run);
          const indices = one ? [Number(one['index'])] : selection.of(mode, scenario, run.points);
          const problems: string[] = [];
          for (const index of indices) problems.push(...(await problemsAt(scenario, run, mode, index)));
          t.diagnostic(`${indices.length} of ${run.points.length} points`);
          assert.equal(
            problems.length,
            0,
            `at ${problems.length} of ${indices.length} points:\n${problems.join('\n')}`,
          );
        });
    });
});
