import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  type ConditionDefinition,
  conditionsByKind,
  events,
  hostStateMeanings,
  machinePhaseMeanings,
  podEndMeanings,
  podWaitMeanings,
  releaseReasonMeanings,
} from '@tartan/api';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const codeIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const cellsOf = (line: string): string[] => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim());
/** Ignores text in brackets, which explains a word and may name others. */
const normalIn = (text: string): string[] =>
  codeIn(/^Normal: (.*?)\.(?:\s|$)/ms.exec(text.replaceAll(/ \([^)]*\)/gs, ''))?.[1] ?? '');

interface Section {
  readonly heading: string;
  readonly rows: readonly (readonly string[])[];
  /** From the line "Normal: …", and from the first cells of the table. */
  readonly words: readonly string[];
}

const sectionsOf = (path: string): readonly Section[] =>
  read(path)
    .split(/^#{2,3} /m)
    .slice(1)
    .map((text) => {
      const rows = [...text.matchAll(/^\| `.*$/gm)].map(([line]) => cellsOf(line));
      const words = [...normalIn(text), ...rows.flatMap(([first = '']) => codeIn(first))];
      return { heading: text.split('\n', 1)[0] ?? '', rows, words };
    });

const conditionSections = sectionsOf('docs/reference/conditions.md');
const eventSections = sectionsOf('docs/reference/events.md');

const wordsUnder = (heading: string): string[] => {
  const found = conditionSections.filter((section) => section.heading === heading);
  assert.equal(found.length, 1, `conditions.md has one heading "${heading}"`);
  return found.flatMap(({ words }) => words).sort();
};

/** The page's names of the kinds. */
const nicknames: Readonly<Record<keyof typeof conditionsByKind, string>> = {
  ScalewayAppleSiliconMachine: 'machine',
  ScalewayAppleSiliconCluster: 'cluster',
  ExternalControlPlane: 'control plane',
  MacHost: 'mac',
  MacFleet: 'fleet',
  RunnerPool: 'runner pool',
};
const conditions: Readonly<Record<string, Readonly<Record<string, ConditionDefinition>>>> = conditionsByKind;

/** A heading names one kind, or several that share the condition, and the condition. */
const isHeadingOf = (heading: string, nickname: string, type: string): boolean => {
  const [kinds = '', condition] = heading.split(': ');
  return condition === type && kinds.toLowerCase().split(', ').includes(nickname);
};

/** Reasons in code that are in no table of `packages/api`. */
const inSource = (path: string, pattern: RegExp): string[] => {
  const words = [...read(path).matchAll(pattern)].map(([, word = '']) => word);
  assert.ok(words.length > 0, `${path} has no such reasons: update this test`);
  return words;
};
const nodeReasons = (): string[] =>
  inSource('packages/tart-kubelet/src/node/conditions.ts', /State\(\s*'(?:True|False|Unknown)',\s*'(\w+)'/g);
/** Keys of the tables of verdicts. */
const verdicts = (): string[] => inSource('packages/provider/src/identity/csr/decide.ts', /^ {2}([A-Z]\w+): \(/gm);

const sorted = (words: Iterable<string>): string[] => [...new Set(words)].sort();

describe('docs/reference/conditions.md', () => {
  for (const [kind, nickname] of Object.entries(nicknames))
    for (const [type, { reasons }] of Object.entries(conditions[kind] ?? {}))
      test(`has exactly the reasons of ${type} of a ${nickname}`, () => {
        const headings = conditionSections
          .map(({ heading }) => heading)
          .filter((each) => isHeadingOf(each, nickname, type));
        assert.equal(headings.length, 1, `one heading "${nickname}: ${type}"`);
        assert.deepEqual(headings.flatMap(wordsUnder), Object.keys(reasons).sort());
      });

  const expected: [heading: string, words: Iterable<string>][] = [
    ['Machine: phase', Object.keys(machinePhaseMeanings)],
    ['Mac: state', Object.keys(hostStateMeanings)],
    ['Mac: reason of a release', Object.keys(releaseReasonMeanings)],
    ['Pod: waiting', Object.keys(podWaitMeanings)],
    ['Pod: terminated', Object.keys(podEndMeanings)],
    ['Certificate signing requests', verdicts()],
  ];
  for (const [heading, words] of expected)
    test(`has exactly the words of "${heading}"`, () => {
      assert.deepEqual(wordsUnder(heading), sorted(words));
    });

  test('has exactly the conditions that agents set on their Nodes', () => {
    const found = conditionSections.filter(({ heading }) => heading.startsWith('Node: '));
    assert.deepEqual(found.flatMap(({ words }) => words).sort(), sorted(nodeReasons()));
  });
});

test('docs/reference/events.md has every event exactly once', () => {
  assert.deepEqual(eventSections.flatMap(({ words }) => words).sort(), Object.keys(events).sort());
});

test('every row says what to do', () => {
  for (const { heading, rows } of [...conditionSections, ...eventSections])
    for (const cells of rows)
      assert.ok(
        cells.length === 4 && cells.every((cell) => cell !== '' && cell !== '—'),
        `${heading}: ${cells.join()}`,
      );
});

/** A reason or event that no code sets misleads readers. */
test('every reason and every event is used in code', () => {
  const files = globSync('packages/{github,provider,tart-kubelet,runners}/src/**/*.ts', { cwd: root });
  const source = files.filter((file) => !file.endsWith('.test.ts')).map(read);
  const known = Object.values(conditions).flatMap((byType) =>
    Object.values(byType).flatMap(({ reasons }) => Object.keys(reasons)),
  );
  const unset = [...known, ...Object.keys(events)].filter((word) => !source.some((text) => text.includes(`'${word}'`)));
  assert.deepEqual(sorted(unset), []);
});

describe('what the pages for operators refer to', () => {
  const pages = globSync('docs/{runbooks/*,reference/{conditions,events}}.md', { cwd: root }).map(read);
  const blocks = pages.flatMap((page) => [...page.matchAll(/^ *```\w+\n(.*?)^ *```/gms)].map(([, text = '']) => text));
  const codes = pages.flatMap((page) => codeIn(page.replaceAll(/^ *```.*?^ *```/gms, '')));

  test('commands of tartan exist', () => {
    const known = [...read('docs/reference/cli.md').matchAll(/^## (tartan .+)$/gm)].map(([, name = '']) => name);
    const lines = [...codes, ...blocks.flatMap((block) => block.split('\n').map((line) => line.trim()))];
    const used = lines.filter((line) => line.startsWith('tartan '));
    assert.ok(used.length > 20);
    for (const line of used)
      assert.ok(
        known.some((name) => `${line} `.startsWith(`${name} `)),
        line,
      );
  });

  test('flags exist', () => {
    const known = ['provider-flags', 'runners-flags', 'agent', 'cli']
      .map((name) => read(`docs/reference/${name}.md`))
      .join('\n');
    const used = codes.filter((code) => /^--[a-z-]+$/.test(code));
    assert.ok(used.length > 10);
    for (const flag of used) assert.match(known, new RegExp(`${flag}[^a-z-]`), flag);
  });

  test('values of the chart exist', () => {
    const known = new Set(codeIn(read('docs/reference/values.md')));
    const used = codes.filter((code) =>
      /^(FLEET|macosFleet|provider|runnersController|alerts|serviceMonitor|scaleway)\.\w+/.test(code),
    );
    assert.ok(used.length > 10);
    for (const value of used) assert.ok(known.has(value.replace(/:.*/, '')), value);
  });

  test('metrics exist', () => {
    const known = new Set(codeIn(read('docs/reference/metrics.md')));
    const text = [...blocks, ...codes].join('\n');
    const used = text.match(/\b(?:capt|scaleway|tart|tuist|leader|controller_runtime|workqueue)_[a-z_]+/g) ?? [];
    assert.ok(used.length > 15);
    for (const metric of used) assert.ok(known.has(metric), metric);
  });
});
