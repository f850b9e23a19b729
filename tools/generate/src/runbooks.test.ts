import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { alertsIn } from './testing/alerts.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const rules = alertsIn(read('charts/tartan/files/alerts.yaml'));
const index = read('docs/runbooks/README.md');
const pages = globSync('docs/runbooks/*.md', { cwd: root })
  .filter((path) => basename(path) !== 'README.md')
  .map((path) => ({ name: basename(path, '.md'), text: read(path) }));
const alertPages = pages.filter(({ name }) => name.startsWith('Tartan'));

/** The chart links to these names. */
test('every alert has a runbook page, and every runbook page an alert', () => {
  assert.deepEqual(alertPages.map(({ name }) => name).sort(), rules.map(({ alert }) => alert).sort());
});

test('the index lists every page once, and every alert with its severity and metric', () => {
  for (const { name } of pages) assert.equal(index.split(`(${name}.md)`).length, 2, name);
  const rows = [...index.matchAll(/^\| \[(Tartan\w+)\]\(\1\.md\) \| (.+) \| (critical|warning) \|$/gm)];
  assert.deepEqual(
    rows.map(([, alert, , severity]) => `${alert} ${severity}`).sort(),
    rules.map(({ alert, labels }) => `${alert} ${labels.severity}`).sort(),
  );
  for (const [, alert, when = ''] of rows)
    for (const [, metric = ''] of when.matchAll(/`(\w+)`/g))
      assert.ok(rules.find((rule) => rule.alert === alert)?.expr.includes(metric), `${alert}: ${metric}`);
});

describe('a runbook page', () => {
  for (const { name, text } of alertPages)
    test(`${name}: the alert is the title, followed by the problem, its confirmation and its fix`, () => {
      const [title, wrong = ''] = text.split('\n\n');
      assert.equal(title, `# ${name}`);
      assert.match(wrong, /^[A-Z`]/);
      const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
      assert.deepEqual(headings, ['Confirm', 'Fix']);
    });

  /** Each of these loses work or the content of a disk. */
  const destructive = [
    /delete (machine|pod) [A-Z]/,
    /kubectl drain/,
    /"reboot":/,
    /"release":/,
    /shutdown -r/,
    /--replicas 0/,
    /"paused":null/,
  ];
  for (const { name, text } of pages)
    test(`${name}: a warning comes before each destructive command`, () => {
      const blocks = text.split('\n\n');
      blocks.forEach((block, at) => {
        if (!block.trimStart().startsWith('```') || !destructive.some((command) => command.test(block))) return;
        const isHarmless = name === 'TartanWorkerStuck' || name === 'clusterctl-move-fails';
        const before = blocks.slice(0, at).filter((each) => each.trimStart().startsWith('> **Warning** '));
        assert.ok(isHarmless || before.length > 0, block);
      });
    });
});
