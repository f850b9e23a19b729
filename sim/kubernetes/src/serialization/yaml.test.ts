import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MalformedError, parseJson } from './json.ts';
import { parseYaml, printYaml } from './yaml.ts';

const malformed = (text: string): string => {
  try {
    parseYaml(text);
  } catch (error) {
    assert.ok(error instanceof MalformedError, `${String(error)} is no MalformedError`);
    return error.message;
  }
  return 'nothing is wrong';
};

const readings: [text: string, value: unknown][] = [
  ['a: yes', { a: true }],
  ['a: n', { a: false }],
  ['a: "yes"', { a: 'yes' }],
  ['a: 1:30', { a: '1:30' }],
  ['a: 2020-01-01', { a: '2020-01-01' }],
  ['a: 0x10', { a: 16 }],
  ['a: 010', { a: 8 }],
  ['a: ~', { a: null }],
  ['a:', { a: null }],
  ['1: a\n1.5: b\nyes: c', { '1': 'a', '1.5': 'b', true: 'c' }],
  ['a: &x {b: 1}\nc: *x', { a: { b: 1 }, c: { b: 1 } }],
  ['a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}', { a: { b: 1, c: 2 }, d: { b: 1, c: 3 } }],
  ['a: |\n  text\n  more\n', { a: 'text\nmore\n' }],
  ['a: !!binary aGVsbG8=', { a: 'hello' }],
  ['a: 1\n---\nfoo: :: : bar', { a: 1 }],
  ['', null],
  ['# nothing', null],
  ['{"a": [1, "x"]}', { a: [1, 'x'] }],
];

test('YAML is read as Go reads it, mostly as YAML 1.1', () => {
  for (const [text, value] of readings) assert.deepEqual(parseYaml(text).value, value, text);
});

test('duplicate keys are reported with their lines', () => {
  assert.deepEqual(parseYaml('data:\n  a: x\n  a: z\n  b: x\n  b: z\n').duplicates, [
    'yaml: unmarshal errors:\n  line 3: key "a" already set in map\n  line 5: key "b" already set in map',
  ]);
  assert.deepEqual(parseYaml('{"a": 1,\n"a": 2}').duplicates, [
    'yaml: unmarshal errors:\n  line 2: key "a" already set in map',
  ]);
});

test('values that are no JSON are refused', () => {
  assert.match(malformed('a: 1\n  b: 2\n'), /^yaml: line \d+: /);
  assert.equal(malformed('b: *c'), "yaml: unknown anchor 'c' referenced");
  assert.equal(malformed('a: &a [*a]'), "yaml: anchor 'a' value contains itself");
  assert.match(malformed('{null: a}'), /^unsupported map key/);
  assert.match(malformed('{? [a] : b}'), /^yaml: invalid map key/);
  assert.equal(malformed('a: .inf'), 'json: unsupported value: +Inf');
  assert.equal(malformed('a: \u0001'), 'yaml: control characters are not allowed');
  assert.equal(malformed('[<<: 1]: 1'), 'yaml: invalid map key');
  assert.match(malformed('<<: 1'), /map merge requires/);
});

test('exponential aliases and unlimited nesting are refused quickly', () => {
  const bomb = Array.from({ length: 30 }, (_, level) =>
    level === 0 ? 'a0: &a0 [x, x, x, x]' : `a${level}: &a${level} [${`*a${level - 1}, `.repeat(9)}]`,
  );
  assert.equal(malformed(bomb.join('\n')), 'yaml: document contains excessive aliasing');
  assert.equal(malformed(`a: ${'['.repeat(20_000)}`), 'yaml: exceeded max depth of 10000');
  const link = (inner: string): string => `${'['.repeat(100)}${inner}${']'.repeat(100)}`;
  const chain = (length: number): string =>
    Array.from({ length }, (_, at) => `a${at}: &a${at} ${link(at === 0 ? 'x' : `*a${at - 1}`)}`).join('\n');
  assert.equal(malformed(chain(9)), 'nothing is wrong');
  assert.equal(malformed(chain(11)), 'yaml: exceeded max depth of 10000');
  assert.equal(malformed(`{"a": ${'['.repeat(20_000)}`), 'yaml: exceeded max depth of 10000');
  assert.equal(
    malformed(Array.from({ length: 2000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')),
    'yaml: exceeded max depth of 10000',
  );
});

test('integers that a double would round are a problem', () => {
  assert.equal(
    parseYaml('a: 9007199254740993').problem,
    'this server cannot keep the integer 9007199254740993 exactly',
  );
  assert.equal(parseYaml('a: 9007199254740991').problem, undefined);
});

test('__proto__ is a key like any other', () => {
  const { value } = parseYaml('__proto__: {polluted: true}');
  assert.deepEqual(Object.keys(value as object), ['__proto__']);
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
});

test('YAML is printed as the real server prints it', () => {
  assert.equal(
    printYaml({
      kind: 'APIGroup',
      versions: [{ version: 'v1', groupVersion: 'apps/v1' }],
      name: 'yes',
      num: '1',
      e: [],
      t: '2026-01-01T00:00:00Z',
    }),
    `e: []\nkind: APIGroup\nname: "yes"\nnum: "1"\nt: "2026-01-01T00:00:00Z"\nversions:\n- groupVersion: apps/v1\n  version: v1\n`,
  );
});

test('printed YAML can be read back', () => {
  const key = { a: { '<<': '' }, '<<': { b: '<<' } };
  assert.deepEqual(parseYaml(printYaml(key)).value, key);
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const { value: expected } = parseJson(JSON.stringify(value));
      assert.deepEqual(parseYaml(printYaml(expected)).value, expected);
    }),
    { numRuns: 300 },
  );
});

test('any text throws only MalformedError', () => {
  const piece = fc.constantFrom(
    ...Array.from('{}[]:,"\'\\-&*!|>%@`#?~ \n\t<a1'),
    '<<: ',
    '- ',
    ': ',
    '*a',
    '&a ',
    '!!',
    '---\n',
    '...\n',
    '__proto__',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      malformed(pieces.join(''));
    }),
    { numRuns: 2000 },
  );
});
