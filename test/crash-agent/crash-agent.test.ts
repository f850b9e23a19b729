import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { bundle } from '@tartan/tools-build';
import type { Fault, Point } from './agent/settings.ts';
import { limitConcurrency } from './limit-concurrency.ts';
import { runScenario, type Scenario } from './run-scenario.ts';
import { scenarios } from './scenarios/index.ts';
import { faultText, kindOf, select } from './selection.ts';

/**
 * Kills agents by SIGKILL, in their own process, after every effect on Kubernetes, tart and files. The next agent has to bring the scenario
 * to the same end, without breaking an invariant (docs/architecture: 5, 6, 12): no virtual machine is lost, duplicated, started twice for
 * one run or deleted while it runs; no finalizer is removed before its virtual machine; foreign virtual machines stay.
 *   TARTAN_CRASH=all                              tries every point, not only one of each kind. Takes a quarter of an hour.
 *   TARTAN_CRASH='agent/end/killed during/tart run pod-4 #1'  tries one, and shows the output of its agents.
 */
const wanted = process.env['TARTAN_CRASH'] ?? '';
const one = /^agent\/(?<key>\w+)\/(?<mode>killed \w+)\/(?<name>.+) #(?<nth>\d+)$/.exec(wanted)?.groups;
/** The variable names a test of the managers. */
const isForOthers = wanted !== '' && wanted !== 'all' && one === undefined;

/** Fewer points would mean that effects are no longer detected. */
const fewest = 30;
/** They mostly wait for processes. */
const atATime = availableParallelism() + 2;

interface Outcome {
  readonly problem?: string;
  readonly occurred: boolean;
}

interface Try {
  readonly fault: Fault;
  readonly outcome: Promise<Outcome>;
}

const named = ({ mode, name = '', nth }: NonNullable<typeof one>): Fault => ({
  mode: mode === 'killed during' ? mode : 'killed after',
  name,
  nth: Number(nth),
});

describe('an agent that crashes at any point', { skip: isForOthers }, () => {
  const chosen = scenarios.filter(({ key }) => one === undefined || one['key'] === key);
  const points = new Map<Scenario, readonly Point[]>();
  const inPool = limitConcurrency(atATime);
  /** All scenarios run concurrently: none waits for the last point of another. */
  const tries = new Map<Scenario, readonly Try[]>();
  let folder = '';
  let program = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'crash-agent-'));
    program = await bundle({ program: 'test/crash-agent/agent/main.ts', folder, name: 'agent', single: true });
    const runs = await Promise.all(chosen.map((scenario) => inPool(() => runScenario(scenario, program))));
    for (const [index, scenario] of chosen.entries()) {
      const { lines = '', points: seen = [], problems = [] } = runs[index] ?? {};
      assert.deepEqual(problems, [], `${scenario.name}, without any fault\n${lines}`);
      points.set(scenario, seen);
    }
    const selection = select(points, wanted === 'all');
    for (const scenario of chosen) {
      const faults = one === undefined ? (selection.get(scenario) ?? []) : [named(one)];
      const begin = (fault: Fault): Try => ({ fault, outcome: inPool(() => problemsAt(scenario, fault)) });
      tries.set(scenario, faults.map(begin));
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('enough kinds of effects are covered', { skip: one !== undefined }, () => {
    const kinds = new Set([...points.values()].flat().map(({ name }) => kindOf(name)));
    assert.ok(kinds.size >= fewest, `${kinds.size} kinds of effects: ${[...kinds].sort().join('\n')}`);
  });

  /** The problems at one point, with what is needed to reproduce them. */
  const problemsAt = async (scenario: Scenario, fault: Fault): Promise<Outcome> => {
    const failed = (error: unknown) => ({ lines: '', problems: [String(error)], occurred: true });
    const { lines, problems, occurred } = await runScenario(scenario, program, fault).catch(failed);
    if (one !== undefined) process.stderr.write(lines);
    if (problems.length === 0) return { occurred };
    const replay = `TARTAN_CRASH='agent/${scenario.key}/${fault.mode}/${fault.name} #${fault.nth}' npm test`;
    const last = lines.trim().split('\n').slice(-15).join('\n      ');
    return {
      occurred,
      problem: `${faultText(fault)}\n    ${problems.join('\n    ')}\n    see it again: ${replay}\n      ${last}`,
    };
  };

  for (const scenario of chosen)
    test(scenario.name, async (t) => {
      const tried = tries.get(scenario) ?? [];
      const faults = tried.map(({ fault }) => fault);
      const outcomes = await Promise.all(tried.map(({ outcome }) => outcome));
      const problems = outcomes.flatMap(({ problem }) => problem ?? []);
      const missed = faults.filter((_, index) => outcomes[index]?.occurred === false);
      t.diagnostic(`${faults.length - missed.length} of ${points.get(scenario)?.length} points`);
      assert.equal(problems.length, 0, `at ${problems.length} of ${faults.length} points:\n${problems.join('\n')}`);
      // Status writes depend on timing; nearly all other effects happen in every run.
      assert.ok(missed.length <= faults.length / 4, `no agent reached:\n${missed.map(faultText).join('\n')}`);
    });
});
