import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
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
const page = read('docs/operations.md');

/** A table of the page. The words that its rows are about stand in backticks in their first cells. */
interface Table {
  readonly head: string;
  readonly rows: readonly { readonly words: readonly string[]; readonly cells: readonly string[] }[];
}

const codeIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const cellsOf = (line: string): string[] => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim());

const tables: readonly Table[] = page
  .split('\n\n')
  .filter((block) => block.startsWith('| '))
  .map((block) => {
    const [head = '', , ...lines] = block.trimEnd().split('\n');
    const rows = lines.map(cellsOf).map((cells) => ({ words: codeIn(cells[0] ?? ''), cells }));
    return { head: cellsOf(head)[0] ?? '', rows };
  });

const wordsUnder = (head: string): string[] =>
  tables.filter((table) => table.head === head).flatMap(({ rows }) => rows.flatMap(({ words }) => words));

/** What the page calls the kinds. */
const nicknames: Readonly<Record<keyof typeof conditionsByKind, string>> = {
  ScalewayAppleSiliconMachine: 'machine',
  ScalewayAppleSiliconCluster: 'cluster',
  ExternalControlPlane: 'control plane',
  MacHost: 'Mac',
  MacFleet: 'fleet',
  RunnerPool: 'runner pool',
};

const conditions: Readonly<Record<string, Readonly<Record<string, ConditionDefinition>>>> = conditionsByKind;

/** A head names the kind, or several that share the condition, and the condition. */
const isHeadOf = (head: string, nickname: string, type: string): boolean => {
  const [kinds = '', condition] = head.split(': ');
  return condition === `\`${type}\`` && kinds.split(', ').includes(nickname);
};

/** Words that are in code and in no table of `packages/api`. */
const inSource = (path: string, pattern: RegExp): string[] => {
  const words = [...read(path).matchAll(pattern)].map(([, word = '']) => word);
  assert.ok(words.length > 0, `${path} has no such words any more: see how it says them now`);
  return words;
};
const claims = /(?:reason: |about\(\s*'(?:True|False|Unknown)',\s*)'(\w+)'/g;
const saidOfNodes = (): string[] => [...inSource('packages/tart-kubelet/src/node/conditions.ts', claims)];
/** Keys of the tables of verdicts, and the one that has no table. */
const verdicts = (): string[] =>
  ['client', 'serving'].flatMap((kind) =>
    inSource(`packages/provider/src/identity/csr/decide-${kind}.ts`, /^ {2}(?:reason: ')?(\w+)(?:: \(|',$)/gm),
  );

const sorted = (words: Iterable<string>): string[] => [...new Set(words)].sort();

const expected: [head: string, words: Iterable<string>][] = [
  ['phase', Object.keys(machinePhaseMeanings)],
  ['state', Object.keys(hostStateMeanings)],
  ['release', Object.keys(releaseReasonMeanings)],
  ['event', Object.keys(events)],
  ['the Pod waits', Object.keys(podWaitMeanings)],
  ['the Pod has ended', Object.keys(podEndMeanings)],
];

describe('the page on running Tartan', () => {
  for (const [kind, nickname] of Object.entries(nicknames))
    for (const [type, { reasons }] of Object.entries(conditions[kind] ?? {}))
      test(`has the reasons of ${type} of a ${nickname}, and no others`, () => {
        const heads = tables.map(({ head }) => head).filter((head) => isHeadOf(head, nickname, type));
        assert.equal(heads.length, 1, `there is one table with "${nickname}: \`${type}\`" as its first head`);
        assert.deepEqual(heads.flatMap(wordsUnder).sort(), Object.keys(reasons).sort());
      });

  for (const [head, words] of expected)
    test(`has every word under "${head}" once, and no others`, () => {
      assert.deepEqual(wordsUnder(head).sort(), sorted(words));
    });

  test('has what agents say of their Nodes, and no more', () => {
    const found = tables.filter(({ head }) => head.startsWith('Node: ')).flatMap(({ head }) => wordsUnder(head));
    assert.deepEqual(found.sort(), sorted(saidOfNodes()));
  });

  test('has what becomes of certificate requests, and no more', () => {
    const found = [...wordsUnder('request approved'), ...wordsUnder('request denied')];
    assert.deepEqual(found.sort(), sorted(verdicts()));
  });

  test('says for each word what to do', () => {
    for (const { head, rows } of tables)
      for (const { cells } of rows) {
        const where = `${head}: ${cells.join(' | ')}`;
        assert.ok(cells.length >= 2 && cells.every((cell) => cell !== ''), where);
        assert.notEqual(cells.at(-1), '—', where);
      }
  });

  test('says that nothing says a word only while that is so', () => {
    const files = globSync('packages/{provider,tart-kubelet,runners}/src/**/*.ts', { cwd: root });
    const source = files.filter((file) => !file.endsWith('.test.ts')).map(read);
    assert.ok(source.length > 300);
    const unsaid = tables.flatMap(({ rows }) =>
      rows.filter(({ cells }) => cells[1]?.startsWith('Nothing says this yet')),
    );
    for (const word of unsaid.flatMap(({ words }) => words))
      assert.ok(
        !source.some((text) => text.includes(`'${word}'`)),
        `${word} is said by now: tell when, and what to do`,
      );
    const asks = globSync('packages/provider/src/manager/*.ts', { cwd: root }).some((file) =>
      read(file).includes('runnerToken'),
    );
    assert.equal(page.includes('The manager does not ask for one yet'), !asks);
    assert.equal(page.includes('not built yet'), !existsSync(join(root, 'packages/runners/package.json')));
  });
});

describe('what the page on running Tartan tells people to use', () => {
  const blocks = [...page.matchAll(/^```\w+\n(.*?)^```/gms)].map(([, text = '']) => text);
  const codes = codeIn(page.replaceAll(/^```.*?^```/gms, ''));

  test('commands of tartan are there', () => {
    const known = [...read('docs/cli.md').matchAll(/^## (tartan .+)$/gm)].map(([, name = '']) => name);
    const lines = [...codes, ...blocks.flatMap((block) => block.split('\n'))];
    const used = lines.filter((line) => line.startsWith('tartan '));
    assert.ok(used.length > 20);
    for (const line of used)
      assert.ok(
        known.some((name) => `${line} `.startsWith(`${name} `)),
        line,
      );
  });

  test('flags are there', () => {
    const known = ['provider-flags', 'runners-flags', 'agent', 'cli'].map((name) => read(`docs/${name}.md`)).join('\n');
    const used = codes.filter((code) => /^--[a-z-]+$/.test(code));
    assert.ok(used.length > 10);
    for (const flag of used) assert.match(known, new RegExp(`${flag}[^a-z-]`), flag);
  });

  test('metrics are there', () => {
    const known = new Set(codeIn(read('docs/metrics.md')));
    const text = [...blocks, ...codes].join('\n');
    const used = text.match(/\b(?:capt|scaleway|tart|tuist|leader|controller_runtime|workqueue)_[a-z_]+/g) ?? [];
    assert.ok(used.length > 15);
    for (const metric of used) assert.ok(known.has(metric), metric);
  });
});
