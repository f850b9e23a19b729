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

interface Story {
  readonly beginning: HarnessState;
  readonly points: readonly Point[];
}

const told = async (scenario: Scenario): Promise<Story> => {
  const beginning = await prepareScenario(scenario);
  const { points, problems } = await runScenario(scenario, beginning);
  assert.deepEqual(problems, [], `${scenario.name}, without any fault`);
  return { beginning, points };
};

/** The problems at one point, with what is needed to reproduce them. */
const problemsAt = async (scenario: Scenario, story: Story, mode: Mode, index: number): Promise<string[]> => {
  const point = story.points[index];
  if (point === undefined) return [`${scenario.key} has no point ${index}, but ${story.points.length}`];
  const { problems, lines } = await runScenario(scenario, story.beginning, { ...point, mode }, one !== undefined);
  if (one) process.stderr.write(lines.join(''));
  if (problems.length === 0) return [];
  const replay = `TARTAN_CRASH='${scenario.key}/${mode}/${index}' npm test`;
  return [`${mode}: ${pointText(point)}\n    ${problems.join('\n    ')}\n    see it again: ${replay}`];
};

describe('a manager that crashes at any point', () => {
  const stories = new Map<Scenario, Story>();
  const selection = createSelection(wanted === 'all');
  const kinds = new Set<string>();
  before(async () => {
    for (const scenario of scenarios) {
      if (one && one['key'] !== scenario.key) continue;
      const story = await told(scenario);
      stories.set(scenario, story);
      for (const point of story.points) kinds.add(kindOf(point));
    }
  });

  test('has many effects', { skip: one !== undefined }, () => {
    assert.ok(kinds.size >= 60, `${kinds.size} kinds of effects: ${[...kinds].sort().join('\n')}`);
  });

  for (const scenario of scenarios)
    describe(scenario.name, { skip: one !== undefined && one['key'] !== scenario.key }, () => {
      for (const mode of modes)
        test(mode, { skip: one !== undefined && one['mode'] !== mode }, async (t) => {
          const story = stories.get(scenario);
          assert.ok(story);
          const indices = one ? [Number(one['index'])] : selection.of(mode, scenario, story.points);
          const problems: string[] = [];
          for (const index of indices) problems.push(...(await problemsAt(scenario, story, mode, index)));
          t.diagnostic(`${indices.length} of ${story.points.length} points`);
          assert.equal(
            problems.length,
            0,
            `at ${problems.length} of ${indices.length} points:\n${problems.join('\n')}`,
          );
        });
    });
});
