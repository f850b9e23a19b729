import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, KubeObject } from '../object.ts';
import { customColumns } from './custom-columns.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const object = (v: Json): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T23:00:00Z' },
  spec: { v },
});

const types = ['string', 'integer', 'number', 'boolean', 'date'];
const columns = customColumns(types.map((type) => ({ name: type, type, jsonPath: '.spec.v' })));

// One value in columns of all five types, as kube-apiserver 1.36.3 shows it.
const cases: [Json, Json[]][] = [
  ['text', ['text', null, null, null, '<invalid>']],
  [7, ['7', 7, 7, null, null]],
  [1.5, ['1.5', 1, 1.5, null, null]],
  [-1.5, ['-1.5', -1, -1.5, null, null]],
  [1234567.5, ['1.2345675e+06', 1234567, 1234567.5, null, null]],
  [0.00001234, ['1.234e-05', 0, 0.00001234, null, null]],
  [123456789012, ['123456789012', 123456789012, 123456789012, null, null]],
  [true, ['true', null, null, true, null]],
  [{ b: 1, a: '<x>&' }, ['{"a":"\\u003cx\\u003e\\u0026","b":1}', null, null, null, null]],
  [
    [1, 'a', null],
    ['[1,"a",null]', null, null, null, null],
  ],
  ['2026-01-01T23:00:00Z', ['2026-01-01T23:00:00Z', null, null, null, '60m']],
  ['2026-01-02T00:00:00+01:00', ['2026-01-02T00:00:00+01:00', null, null, null, '60m']],
  ['2026-13-45T00:00:00Z', ['2026-13-45T00:00:00Z', null, null, null, '<invalid>']],
  ['2026-01-01', ['2026-01-01', null, null, null, '<invalid>']],
  ['', ['', null, null, null, '<unknown>']],
  ['null', ['null', null, null, null, '<unknown>']],
];

for (const [value, expected] of cases) {
  test(`${JSON.stringify(value)} in columns of every type`, () => {
    assert.deepEqual(columns.cells(object(value), now), ['w', ...expected]);
  });
}

test('a missing value is an empty cell', () => {
  const missing = customColumns([{ name: 'M', type: 'string', jsonPath: '.status.phase' }]);
  assert.deepEqual(missing.cells(object('x'), now), ['w', null]);
});

test('without printer columns a custom resource shows its age', () => {
  for (const given of [undefined, []]) {
    const byDefault = customColumns(given);
    assert.deepEqual(
      byDefault.definitions.map(({ name, type }) => [name, type]),
      [
        ['Name', 'string'],
        ['Age', 'date'],
      ],
    );
    assert.deepEqual(byDefault.cells(object('x'), now), ['w', '60m']);
  }
});

test('column definitions have the text of the author, and always a description', () => {
  const { definitions } = customColumns([
    { name: 'A', type: 'number', format: 'double', priority: 1, description: 'said', jsonPath: '.a' },
    { name: 'B', type: 'string', jsonPath: '.b' },
  ]);
  assert.deepEqual(definitions.slice(1), [
    { name: 'A', type: 'number', format: 'double', priority: 1, description: 'said' },
    {
      name: 'B',
      type: 'string',
      format: '',
      priority: 0,
      description: 'Custom resource definition column (in JSONPath format): .b',
    },
  ]);
});

test('columns after an invalid JSONPath are omitted', () => {
  const cut = customColumns([
    { name: 'A', type: 'string', jsonPath: '.spec.v' },
    { name: 'X', type: 'string', jsonPath: '.spec.l[?(@.type=="a"].v' },
    { name: 'C', type: 'string', jsonPath: '.spec.v' },
  ]);
  assert.deepEqual(cut.cells(object('x'), now), ['w', 'x']);
});
