import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { age, ageSince } from './age.ts';
import { tableLines, wrappedTableLines, wrapText } from './table.ts';
import { paint, printable, textStyleFor } from './terminal-text.ts';
import { changedLines } from './view.ts';

const plain = { style: { colours: false } };

describe('a table', () => {
  const table = {
    head: ['NAME', 'EMPTY', 'HOST', 'WHY'],
    rows: [
      { key: 'a', cells: ['mac-1', '', '48d7f3f6-1cab-4694-8b20-4de2275d54bc', 'all is well'] },
      { key: 'b', cells: ['mac-2', '', '', ''] },
    ],
  };

  test('aligns columns, drops empty ones and truncates nothing when it fits', () => {
    assert.deepEqual(tableLines(table, plain), [
      'NAME    HOST                                   WHY',
      'mac-1   48d7f3f6-1cab-4694-8b20-4de2275d54bc   all is well',
      'mac-2',
    ]);
  });

  test('fits a narrow terminal by cutting the widest column first', () => {
    assert.deepEqual(tableLines(table, { ...plain, width: 34 }), [
      'NAME    HOST           WHY',
      'mac-1   48d7f3f6-1c…   all is well',
      'mac-2',
    ]);
  });

  test('never has a line wider than the terminal, unless every column has its minimum width', () => {
    const cell = fc.string({ unit: 'grapheme', maxLength: 60 });
    fc.assert(
      fc.property(
        fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 200 }),
        (rows, width) => {
          const lines = tableLines(
            { head: ['A', 'B', 'C'], rows: rows.map((cells, at) => ({ key: `${at}`, cells })) },
            { ...plain, width },
          );
          for (const line of lines) assert.ok(Array.from(line).length <= Math.max(width, 3 * 9 + 2 * 3), line);
        },
      ),
    );
  });

  test('prints nothing without rows', () => {
    assert.deepEqual(tableLines({ head: ['A'], rows: [] }, plain), []);
  });

  test('colours do not shift columns', () => {
    const rows = [
      { key: 'a', cells: [{ text: 'bad', tone: 'bad' as const }, 'x'] },
      { key: 'b', cells: ['longer', 'y'] },
    ];
    const [, first] = tableLines({ head: ['A', 'B'], rows }, { style: { colours: true } });
    assert.equal(first, '\u001B[31mbad\u001B[0m      x');
  });
});

describe('untrusted text', () => {
  test('cannot move the cursor, set colors or start a new line', () => {
    assert.equal(printable('a\u001B[2Jb\r\nc\u0007\u202Ed'), 'a�[2Jb c��d');
    const controls = fc.string({ unit: fc.integer({ min: 0, max: 0xa0 }).map((code) => String.fromCharCode(code)) });
    fc.assert(fc.property(controls, (text) => !/\p{Cc}/u.test(printable(text))));
  });

  test('is wrapped between words, beside the columns or below them when the terminal is narrow', () => {
    assert.deepEqual(wrapText('one two three', 8, ' '), [' one two', ' three']);
    const rows = [{ columns: ['Ready', 'False'], text: 'one two three four five six seven eight' }];
    assert.deepEqual(wrappedTableLines(rows, { ...plain, width: 50 }), [
      'Ready   False   one two three four five six seven',
      '                eight',
    ]);
    assert.deepEqual(wrappedTableLines(rows, { ...plain, width: 30 }), [
      'Ready   False',
      '    one two three four five',
      '    six seven eight',
    ]);
  });
});

test('ages have one unit; an invalid age is a question mark', () => {
  assert.deepEqual([0, 59_000, 119_000, 120_000, 7_200_000, 49 * 3_600_000, -5].map(age), [
    '0s',
    '59s',
    '119s',
    '2m',
    '2h',
    '2d',
    '0s',
  ]);
  assert.equal(ageSince('yesterday', 0), '?');
  assert.equal(ageSince(undefined, 0), '');
});

describe('colours', () => {
  const terminal = { isTTY: true };
  const cases: readonly [
    what: string,
    stream: { isTTY?: boolean },
    env: NodeJS.ProcessEnv,
    wanted: boolean,
    colours: boolean,
  ][] = [
    ['a terminal has them', terminal, {}, true, true],
    ['a pipe has none', {}, {}, true, false],
    ['NO_COLOR', terminal, { NO_COLOR: '1' }, true, false],
    ['an empty NO_COLOR says nothing', terminal, { NO_COLOR: '' }, true, true],
    ['a dumb terminal', terminal, { TERM: 'dumb' }, true, false],
    ['FORCE_COLOR on a pipe', {}, { FORCE_COLOR: '1' }, true, true],
    ['FORCE_COLOR=0', terminal, { FORCE_COLOR: '0' }, true, false],
    ['FORCE_COLOR wins over NO_COLOR', {}, { FORCE_COLOR: '1', NO_COLOR: '1' }, true, true],
    ['--no-color wins over all', terminal, { FORCE_COLOR: '1' }, false, false],
  ];
  for (const [what, stream, env, wanted, colours] of cases)
    test(what, () => assert.deepEqual(textStyleFor(stream, env, wanted), { colours }));

  test('never wrap an empty string', () => {
    assert.equal(paint({ colours: true }, 'good', ''), '');
    assert.equal(paint({ colours: true }, undefined, 'x'), 'x');
  });
});

test('volatile cells do not count as a change; changed, new and deleted rows do', () => {
  const written: string[] = [];
  const stdout = new Writable({
    write: (chunk, _encoding, done) => {
      written.push(String(chunk));
      done();
    },
  });
  const show = changedLines({ stdout, ...plain });
  const page = (...rows: readonly (readonly [name: string, state: string, age: string])[]) => ({
    document: { at: '' },
    page: {
      tables: [
        {
          head: ['NAME', 'STATE', 'FOR'],
          rows: rows.map(([name, state, age_]) => ({ key: name, cells: [name, state, { text: age_, passing: true }] })),
        },
      ],
      lines: [],
    },
  });
  show(page(['a', 'pool', '1s'], ['b', 'pool', '1s']));
  written.length = 0;
  show(page(['a', 'pool', '2s'], ['b', 'pool', '2s']));
  assert.deepEqual(written, []);
  show(page(['a', 'held', '0s'], ['c', '', '0s']));
  assert.deepEqual(written, ['a   held   0s\n', 'c   -   0s\n', 'b   (gone)\n']);
});
