import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ensureBinaries } from '@tartan/tools-kubernetes';
import { cases } from './alerts/cases.ts';
import type { Case, Happening } from './alerts/happening.ts';
import { checkRules, type Look, testRules, type Trial } from './alerts/promtool.ts';
import { annotationsFor, rules } from './alerts/rules.ts';
import type { AlertRule } from '../../tools/generate/src/alerts.ts';
import { troublesOfRunners } from './alerts/runner-cases.ts';
import { record } from './alerts/timeline.ts';
import { createWorld, type World } from './alerts/world.ts';

/** All is well before that. */
const start = 5;
/** For so long nothing comes of what is almost a trouble, after the time at which the trouble would have been told. */
const patience = 30;

const from =
  (world: World, happening: Happening) =>
  (minute: number): void => {
    if (minute >= start) happening(world, minute - start);
  };

const recorded = async (minutes: number, happening: Happening): Promise<Trial['series']> => {
  const world = createWorld();
  return record(world, minutes, from(world, happening));
};

describe('alerts, on what the exporters tell', { timeout: 300_000 }, () => {
  let promtool: string;
  before(async () => {
    ({ promtool } = await ensureBinaries(['promtool']));
  });

  test('promtool takes the rules', () => checkRules(promtool));

  test('each rule is tried', () => {
    assert.deepEqual(Object.keys(cases).sort(), rules.map(({ alert }) => alert).sort());
  });

  test('none fires while all is well', async () => {
    const quiet = rules.map(({ alert }): Look => ({ minute: 200, alert, firing: [] }));
    await testRules(promtool, [{ name: 'all is well', series: await recorded(200, () => {}), looks: quiet }]);
  });

  const expected = (rule: AlertRule, { labels, value }: Pick<Case, 'labels' | 'value'>): Look['firing'] => [
    { exp_labels: { ...rule.labels, ...labels }, exp_annotations: annotationsFor(rule, labels, value) },
  ];

  for (const rule of rules) {
    const { alert } = rule;
    const one: Case | undefined = cases[alert];
    if (one === undefined) continue;
    const { trouble, after, almost } = one;
    const told = start + after;
    const nobody = (minute: number): Look => ({ minute, alert, firing: [] });

    test(`${alert} fires after ${after} minutes, not before, and not for less`, async () => {
      const last = told + patience;
      await testRules(promtool, [
        {
          name: alert,
          series: await recorded(told, trouble),
          looks: [nobody(told - 1), { minute: told, alert, firing: expected(rule, one) }],
        },
        {
          name: `almost ${alert}`,
          series: await recorded(last, almost),
          looks: Array.from({ length: last }, (_, minute) => nobody(minute)),
        },
      ]);
    });
  }

  for (const [alert, one] of Object.entries(troublesOfRunners))
    test(`${alert} fires for runners controllers, too`, async () => {
      const rule = rules.find((each) => each.alert === alert) ?? assert.fail(alert);
      const told = start + one.after;
      const looks: Look[] = [{ minute: told, alert, firing: expected(rule, one) }];
      await testRules(promtool, [{ name: alert, series: await recorded(told, one.trouble), looks }]);
    });
});
