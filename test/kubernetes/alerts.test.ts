import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ensureBinaries } from '@tartan/tools-kubernetes';
import type { AlertRule } from '../../tools/generate/src/testing/alerts.ts';
import { cases } from './alerts/cases.ts';
import type { Case, Fault } from './alerts/fault.ts';
import { createHarness, type Harness } from './alerts/harness.ts';
import { checkRules, type ExpectedAlerts, type RuleTest, testRules } from './alerts/promtool.ts';
import { annotationsFor, rules } from './alerts/rules.ts';
import { runnerControllerFaults } from './alerts/runner-cases.ts';
import { record } from './alerts/timeline.ts';

/** No fault before this minute. */
const start = 5;
/** How many minutes an `almost` case must stay silent after the alert would have fired. */
const patience = 30;

const from =
  (harness: Harness, happening: Fault) =>
  (minute: number): void => {
    if (minute >= start) happening(harness, minute - start);
  };

const recorded = async (minutes: number, happening: Fault): Promise<RuleTest['series']> => {
  const harness = createHarness();
  return record(harness, minutes, from(harness, happening));
};

describe('alerts, evaluated on the real exporters', { timeout: 300_000 }, () => {
  let promtool: string;
  before(async () => {
    ({ promtool } = await ensureBinaries(['promtool']));
  });

  test('promtool accepts the rules', () => checkRules(promtool));

  test('each rule has a test', () => {
    assert.deepEqual(Object.keys(cases).sort(), rules.map(({ alert }) => alert).sort());
  });

  test('no alert fires on a healthy fleet', async () => {
    const quiet = rules.map(({ alert }): ExpectedAlerts => ({ minute: 200, alert, firing: [] }));
    await testRules(promtool, [{ name: 'all is well', series: await recorded(200, () => {}), looks: quiet }]);
  });

  const expected = (rule: AlertRule, { labels, value }: Pick<Case, 'labels' | 'value'>): ExpectedAlerts['firing'] => [
    { exp_labels: { ...rule.labels, ...labels }, exp_annotations: annotationsFor(rule, labels, value) },
  ];

  for (const rule of rules) {
    const { alert } = rule;
    const one: Case | undefined = cases[alert];
    if (one === undefined) continue;
    const { trouble, after, almost } = one;
    const told = start + after;
    const nobody = (minute: number): ExpectedAlerts => ({ minute, alert, firing: [] });

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

  for (const [alert, one] of Object.entries(runnerControllerFaults))
    test(`${alert} fires for runners controllers, too`, async () => {
      const rule = rules.find((each) => each.alert === alert) ?? assert.fail(alert);
      const told = start + one.after;
      const looks: ExpectedAlerts[] = [{ minute: told, alert, firing: expected(rule, one) }];
      await testRules(promtool, [{ name: alert, series: await recorded(told, one.trouble), looks }]);
    });
});
