import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../errors/api-error.ts';
import {
  assertSelectable,
  type FieldRequirement,
  matchesFields,
  parseFieldSelector,
  printFieldSelector,
} from './field-selector.ts';

const refusals: [string, string][] = [
  ['a', "invalid selector: 'a'; can't understand 'a'"],
  ['a=b,metadata.name', "invalid selector: 'a=b,metadata.name'; can't understand 'metadata.name'"],
  ['metadata.name=a=b', 'invalid field selector: unescaped character in value: 61'],
  ['metadata.name=a\\x', 'invalid field selector: invalid escape sequence: \\x'],
  ['metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\'],
  ['metadata.name=a\\😀', 'invalid field selector: invalid escape sequence: \\😀'],
];

for (const [text, message] of refusals) {
  test(`the field selector ${JSON.stringify(text)} is refused with the message of the real server`, () => {
    assert.throws(
      () => parseFieldSelector(text),
      (error) => error instanceof ApiError && error.code === 400 && error.message === message,
    );
  });
}

const parsed: [string, FieldRequirement[]][] = [
  ['', []],
  [',,', []],
  ['metadata.name=x', [{ field: 'metadata.name', operator: '=', value: 'x' }]],
  ['metadata.name==x', [{ field: 'metadata.name', operator: '=', value: 'x' }]],
  ['metadata.name!=x', [{ field: 'metadata.name', operator: '!=', value: 'x' }]],
  ['metadata.name=', [{ field: 'metadata.name', operator: '=', value: '' }]],
  ['=x', [{ field: '', operator: '=', value: 'x' }]],
  ['a=x\\,y\\=\\\\', [{ field: 'a', operator: '=', value: 'x,y=\\' }]],
  [
    'b=2,a!=1',
    [
      { field: 'a', operator: '!=', value: '1' },
      { field: 'b', operator: '=', value: '2' },
    ],
  ],
];

for (const [text, expected] of parsed) {
  test(`the field selector ${JSON.stringify(text)} is parsed`, () => {
    assert.deepEqual(parseFieldSelector(text), expected);
  });
}

test('all requirements have to hold, and a missing field counts as empty', () => {
  const fields = { 'metadata.name': 'x', 'status.phase': 'Running' };
  const holds = (text: string): boolean => matchesFields(parseFieldSelector(text), fields);
  assert.equal(holds('metadata.name=x,status.phase=Running'), true);
  assert.equal(holds('metadata.name=x,status.phase!=Running'), false);
  assert.equal(holds('spec.nodeName='), true);
  assert.equal(holds('spec.nodeName!='), false);
  assert.equal(holds('toString='), true);
});

// With a prototype, so that a strict comparison with the parser's result can succeed.
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true });

const requirement: fc.Arbitrary<FieldRequirement> = record({
  field: fc.constantFrom('metadata.name', 'spec.nodeName', 'a'),
  operator: fc.constantFrom('=' as const, '!=' as const),
  value: fc.string().filter((value) => !value.startsWith('=')),
});

test('a printed selector parses to the same requirements, sorted', () => {
  const order = (a: FieldRequirement, b: FieldRequirement): number =>
    printFieldSelector([a]) < printFieldSelector([b]) ? -1 : 1;
  fc.assert(
    fc.property(fc.array(requirement), (requirements) => {
      assert.deepEqual(parseFieldSelector(printFieldSelector(requirements)), [...requirements].sort(order));
    }),
  );
});

test('for any text, the field parser throws only ApiError', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      try {
        parseFieldSelector(text);
      } catch (error) {
        assert.ok(error instanceof ApiError);
      }
    }),
    { numRuns: 500 },
  );
});

const common = ['metadata.name', 'metadata.namespace'];

const cases: [string, string, string, string | undefined][] = [
  ['v1', 'Pod', 'metadata.namespace=x', undefined],
  ['v1', 'Pod', 'foo=x', 'field label not supported: foo'],
  ['v1', 'Pod', 'foo!=x,bar=y', 'field label not supported: bar'],
  ['v1', 'Node', 'metadata.namespace=x', 'field label not supported: metadata.namespace'],
  ['v1', 'Namespace', 'metadata.namespace=x', 'field label not supported: metadata.namespace'],
  ['v1', 'Namespace', '=x', 'field label not supported: '],
  ['events.k8s.io/v1', 'Event', 'foo=x', 'field label not supported: foo'],
  ['v1', 'ConfigMap', 'foo=x', '"foo" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ['apps/v1', 'Deployment', 'foo=x', '"foo" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRole', 'metadata.namespace=x', undefined],
  ['example.com/v1', 'Widget', 'foo=x', 'field label not supported: foo'],
  ['cluster.x-k8s.io/v1beta2', 'Machine', 'foo=x', 'field label not supported: foo'],
];

for (const [apiVersion, kind, selector, message] of cases) {
  test(`${kind} of ${apiVersion} ${message ? 'cannot' : 'can'} be selected by ${selector}`, () => {
    const check = (): void => assertSelectable(parseFieldSelector(selector), common, apiVersion, kind);
    if (message === undefined) check();
    else assert.throws(check, (error) => error instanceof ApiError && error.code === 400 && error.message === message);
  });
}

test('fields can be given as an object or as a list of names', () => {
  const requirements = parseFieldSelector('spec.nodeName=x');
  assertSelectable(requirements, { 'spec.nodeName': '' }, 'v1', 'Pod');
  assert.throws(() => assertSelectable(requirements, { 'spec.other': '' }, 'v1', 'Pod'), ApiError);
});
