import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonPath, JsonPathError } from './json-path.ts';

const object = {
  metadata: { labels: { 'a.b/c': 'label' } },
  spec: {
    v: 'text',
    list: ['l0', 'l1', 'l2'],
    empty: [],
    none: null,
    objects: [
      { type: 'a', v: 'va', n: 1, on: true },
      { type: 'b', v: 'vb', n: 2, opt: null },
      { type: 'c)', v: 'vc', n: 3 },
    ],
  },
};

const cases: [string, unknown[]][] = [
  ['.spec.v', ['text']],
  ['spec.v', []],
  [".spec['v']", ['text']],
  ['$.spec.v', ['text']],
  ['@.spec.v', ['text']],
  ['.spec.missing.v', []],
  ['.spec.v.x', []],
  ['.spec.toString', []],
  ['.spec.none', [null]],
  ['.spec.none.x', []],
  ['.spec.none[0]', []],
  [".metadata.labels['a\\.b/c']", ['label']],
  ['.metadata.labels.a\\.b/c', ['label']],
  [".metadata.labels['a.b/c']", []],
  ['.spec.list[0]', ['l0']],
  ['.spec.list[-1]', ['l2']],
  ['.spec.list[-3]', ['l0']],
  ['.spec.list[3]', []],
  ['.spec.list[-4]', []],
  ['.spec.list[*]', ['l0', 'l1', 'l2']],
  ['.spec.list[1:]', ['l1', 'l2']],
  ['.spec.list[0:2]', ['l0', 'l1']],
  ['.spec.list[0:-1]', ['l0', 'l1']],
  ['.spec.list[1:1]', []],
  ['.spec.list[2:1]', []],
  ['.spec.list[::2]', ['l0', 'l2']],
  ['.spec.list[::0]', []],
  ['.spec.list[::-1]', []],
  ['.spec.list[0,2]', ['l0', 'l2']],
  ['.spec.empty[0]', []],
  ['.spec.empty[*]', []],
  ['.spec.v[0]', []],
  ['.spec.objects[*].type', ['a', 'b', 'c)']],
  ['.spec.objects.*.n', [1, 2, 3]],
  ['.spec.objects[?(@.type=="a")].v', ['va']],
  [".spec.objects[?(@.type=='a')].v", ['va']],
  ['.spec.objects[?(@.type == "b")].v', ['vb']],
  ['.spec.objects[?(@.type=="c)")].v', ['vc']],
  ['.spec.objects[?(@.type!="a")].v', ['vb', 'vc']],
  ['.spec.objects[?(@.n>1)].v', ['vb', 'vc']],
  ['.spec.objects[?(@.n>=2)].v', ['vb', 'vc']],
  ['.spec.objects[?(@.n<2)].v', ['va']],
  ['.spec.objects[?(@.n<=1)].v', ['va']],
  ['.spec.objects[?(@.on==true)].v', ['va']],
  ['.spec.objects[?(@.on>false)].v', []],
  ['.spec.objects[?(@.opt)].v', ['vb']],
  ['.spec.objects[?(@.opt=="x")].v', []],
  ['.spec.objects[?(@.n=="1")].v', []],
  ['.spec.objects[?(@.n=>1)].v', []],
  ['.spec.objects[?(@.type==a)].v', []],
  ['.spec.v[?(@.x=="1")]', []],
  ['.spec.missing[?(@.x=="1")]', []],
  ['..opt', [null]],
  ['.spec..type', ['a', 'b', 'c)']],
  ['.', []],
];

for (const [expression, expected] of cases) {
  test(`${expression} finds ${JSON.stringify(expected)}`, () =>
    assert.deepEqual(jsonPath(expression)(object), expected));
}

for (const expression of [
  '.a[',
  '.a[x]',
  '.a[?(@.b=="1"]',
  '.a[?(@.b)',
  '.a[?(@.b)x',
  '.a "b',
  '.a[?(@.b=~1)]',
  '.a 1.2.3',
  '.a{}',
  '.a,b',
  '....',
]) {
  test(`${expression} cannot be parsed`, () => assert.throws(() => jsonPath(expression), JsonPathError));
}

test('for any text, the parser throws only its own error, and a path does not fail', () => {
  const text = fc
    .array(
      fc.constantFrom(
        '.',
        'a',
        '[',
        ']',
        '(',
        ')',
        '?',
        '@',
        '"',
        "'",
        '*',
        ':',
        ',',
        '0',
        '-',
        '\\',
        '=',
        '<',
        ' ',
        '[?(',
      ),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(text, fc.string()), fc.jsonValue(), (expression, value) => {
      try {
        jsonPath(expression)(value);
      } catch (error) {
        assert.ok(error instanceof JsonPathError, String(error));
      }
    }),
    { numRuns: 500 },
  );
});
