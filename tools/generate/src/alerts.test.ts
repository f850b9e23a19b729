import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { leaderElectionID, runnersLeaderElectionID } from '@tartan/api';
import { metricsTable } from '@tartan/provider/metrics';
import { runnerMetricsTable } from '@tartan/runners/metrics';
import { agentMetricRows } from '@tartan/tart-kubelet/metrics';
import { alertsIn } from './testing/alerts.ts';

/** The series of an expression with their labels, and the labels by which it groups or joins. */
interface Selectors {
  readonly series: readonly { readonly metric: string; readonly labels: readonly string[] }[];
  readonly groupedBy: readonly string[];
}

const keywords = new Set(['and', 'or', 'unless', 'by', 'on', 'bool', 'offset']);

const wordsOf = (list: string): string[] => list.match(/\w+/g) ?? [];

/** The part of PromQL that the rules use: `promtool check rules` parses all of it. */
const selectorsIn = (expression: string): Selectors => {
  const grouping = /\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g;
  const groupedBy = [...expression.matchAll(grouping)].flatMap(([, list = '']) => wordsOf(list));
  const rest = expression.replaceAll(grouping, '').replaceAll(/\[[^\]]*\]/g, '');
  const series = [...rest.matchAll(/\b([a-zA-Z_]\w*)\b(?!\s*\()\s*(?:\{([^}]*)\})?/g)]
    .filter(([, metric = '']) => !keywords.has(metric))
    .map(([, metric = '', matchers = '']) => ({
      metric,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"[^"]*"/g)].map(([, label = '']) => label),
    }));
  return { series, groupedBy };
};

const root = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const rules = alertsIn(read('charts/tartan/files/alerts.yaml'));

const { own, runtime } = metricsTable();
const table = new Map(
  [...own, ...runtime, ...agentMetricRows(), ...runnerMetricsTable()].flatMap(({ name, type, labels }) =>
    (type === 'histogram' ? ['_sum', '_count'] : ['']).map((suffix) => [`${name}${suffix}`, labels] as const),
  ),
);
/** Labels that Prometheus adds by target. */
const ofTargets = ['namespace', 'instance'];

describe('the selectors of an expression', () => {
  const cases: [string, ReturnType<typeof selectorsIn>][] = [
    ['up', { series: [{ metric: 'up', labels: [] }], groupedBy: [] }],
    ['max(a_b{c="x", d=~"y|z,e"}) > 3', { series: [{ metric: 'a_b', labels: ['c', 'd'] }], groupedBy: [] }],
    ['sum by (f) (increase(a[1h])) > 0.2 * time()', { series: [{ metric: 'a', labels: [] }], groupedBy: ['f'] }],
    [
      'increase(max by (f, g) (a{h!=""})[1h:1m]) > 3',
      { series: [{ metric: 'a', labels: ['h'] }], groupedBy: ['f', 'g'] },
    ],
    [
      'a and on (i) (b or c) unless absent(d)',
      { series: ['a', 'b', 'c', 'd'].map((metric) => ({ metric, labels: [] })), groupedBy: ['i'] },
    ],
  ];
  for (const [expression, wanted] of cases) test(expression, () => assert.deepEqual(selectorsIn(expression), wanted));
});

describe('alerts', () => {
  test('alert names are unique and begin with the program', () => {
    const names = rules.map(({ alert }) => alert);
    assert.ok(names.length > 20);
    assert.equal(new Set(names).size, names.length);
    for (const name of names) assert.match(name, /^Tartan[A-Z][A-Za-z]+$/);
  });

  for (const { alert, expr, labels, annotations } of rules) {
    test(`${alert} uses metrics and labels that are exposed`, () => {
      const { series, groupedBy } = selectorsIn(expr);
      assert.ok(series.length > 0);
      for (const { metric, labels: used } of series) {
        assert.ok(table.has(metric), `no program exposes ${metric}`);
        for (const label of used) assert.ok(table.get(metric)?.includes(label), `${metric} has no label ${label}`);
      }
      const exposed = series.flatMap(({ metric }) => table.get(metric) ?? []);
      for (const label of groupedBy) assert.ok([...exposed, ...ofTargets].includes(label), `no label ${label}`);
    });

    test(`${alert} has a severity, and texts with known labels only`, () => {
      assert.match(labels.severity, /^(critical|warning)$/);
      for (const text of [annotations.summary, annotations.description])
        assert.deepEqual(text.replaceAll(/\{\{ \$(value|labels\.\w+) \}\}/g, '').match(/\{\{.*?\}\}/g), null);
    });
  }

  test('the leases in expressions are those of the manager and of the runners controller', () => {
    const watched = rules.flatMap(({ expr }) => [...expr.matchAll(/\bname=~?"([^"]+)"/g)].map(([, name = '']) => name));
    assert.deepEqual(
      new Set(watched.flatMap((names) => names.split('|'))),
      new Set([leaderElectionID, runnersLeaderElectionID]),
    );
  });
});
