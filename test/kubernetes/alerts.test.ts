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
/** How many minutes an alert must stay silent in its near miss, after the alert would have fired. */
const silentMinutes = 30;

const from =
  (harness: Harness, fault: Fault) =>
  (minute: number): void => {
    if (minute >= start) fault(harness, minute - start);
  };

const recorded = async (minutes: number, fault: Fault): Promise<RuleTest['series']> => {
  const harness = createHarness();
  return record(harness, minutes, from(harness, fault));
};

describe('alerts, evaluated on the real exporters', () => {
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
    await testRules(promtool, [{ name: 'healthy fleet', series: await recorded(200, () => {}), expectations: quiet }]);
  });

  const expected = (rule: AlertRule, { labels, value }: Pick<Case, 'labels' | 'value'>): ExpectedAlerts['firing'] => [
    { exp_labels: { ...rule.labels, ...labels }, exp_annotations: annotationsFor(rule, labels, value) },
  ];

  for (const rule of rules) {
    const { alert } = rule;
    const one: Case | undefined = cases[alert];
    if (one === undefined) continue;
    const { fault, after, nearMiss } = one;
    const firesAt = start + after;
    const silent = (minute: number): ExpectedAlerts => ({ minute, alert, firing: [] });

    test(`${alert} fires after ${after} minutes, not before, and not for a near miss`, async () => {
      const last = firesAt + silentMinutes;
      await testRules(promtool, [
        {
          name: alert,
          series: await recorded(firesAt, fault),
          expectations: [silent(firesAt - 1), { minute: firesAt, alert, firing: expected(rule, one) }],
        },
        {
          name: `near miss of ${alert}`,
          series: await recorded(last, nearMiss),
          expectations: Array.from({ length: last }, (_, minute) => silent(minute)),
        },
      ]);
    });
  }

  for (const [alert, one] of Object.entries(runnerControllerFaults))
    test(`${alert} fires for runners controllers, too`, async () => {
      const rule = rules.find((each) => each.alert === alert) ?? assert.fail(alert);
      const firesAt = start + one.after;
      const expectations: ExpectedAlerts[] = [{ minute: firesAt, alert, firing: expected(rule, one) }];
      await testRules(promtool, [{ name: alert, series: await recorded(firesAt, one.fault), expectations }]);
    });
});
