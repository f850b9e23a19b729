import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { breakingChanges, type Definition } from './breaking-changes.ts';

const definition = (schema: object, more: object = {}): Definition => ({
  spec: {
    scope: 'Namespaced',
    names: { kind: 'Mac' },
    versions: [{ name: 'v1', served: true, schema: { openAPIV3Schema: { type: 'object', ...schema } } }],
    ...more,
  },
});
const text = { type: 'string' };
const fields = (properties: object, ...required: string[]) => ({ type: 'object', properties, required });

const cases: readonly [what: string, old: object, now: object, found: readonly string[]][] = [
  ['nothing', fields({ a: text }), fields({ a: text }), []],
  ['another field', fields({ a: text }), fields({ a: text, b: text }), []],
  [
    'another field, required',
    fields({ a: text }),
    fields({ a: text, b: text }, 'b'),
    ['Mac v1.b: it was not required'],
  ],
  ['a field becomes required', fields({ a: text }), fields({ a: text }, 'a'), ['Mac v1.a: it was not required']],
  ['a field is no longer required', fields({ a: text }, 'a'), fields({ a: text }), []],
  ['a field requires another inside of what is new', fields({}), fields({ a: fields({ b: text }, 'b') }), []],
  ['a field goes', fields({ a: text }), fields({}), ['Mac v1.a: this field is gone']],
  [
    'a field goes where unknown ones stay',
    fields({ a: text }),
    { ...fields({}), 'x-kubernetes-preserve-unknown-fields': true },
    [],
  ],
  ['another type', fields({ a: text }), fields({ a: { type: 'integer' } }), ['Mac v1.a: its type was string']],
  ['a format', fields({ a: text }), fields({ a: { ...text, format: 'date-time' } }), ['Mac v1.a: its format was any']],
  [
    'a value of an enum goes',
    fields({ a: { ...text, enum: ['x', 'y'] } }),
    fields({ a: { ...text, enum: ['y', 'z'] } }),
    ['Mac v1.a: it took "x"'],
  ],
  ['an enum comes', fields({ a: text }), fields({ a: { ...text, enum: ['x'] } }), ['Mac v1.a: it took any value']],
  ['an enum goes', fields({ a: { ...text, enum: ['x'] } }), fields({ a: text }), []],
  ['a pattern comes', fields({ a: text }), fields({ a: { ...text, pattern: 'x' } }), ['Mac v1.a: it had no pattern']],
  ['a bound is tighter', fields({ a: { minimum: 1 } }), fields({ a: { minimum: 2 } }), ['Mac v1.a: its minimum was 1']],
  ['a bound is wider', fields({ a: { maxLength: 1 } }), fields({ a: { maxLength: 2 } }), []],
  ['a bound comes', fields({ a: text }), fields({ a: { maxLength: 2 } }), ['Mac v1.a: its maxLength was none']],
  ['null is refused', fields({ a: { nullable: true } }), fields({ a: {} }), ['Mac v1.a: it could be null']],
  [
    'the same inside of lists and maps',
    { properties: { a: { items: fields({ x: text }) }, b: { additionalProperties: text } } },
    { properties: { a: { items: fields({ x: text }, 'x') }, b: { additionalProperties: { type: 'integer' } } } },
    ['Mac v1.a[].x: it was not required', 'Mac v1.b.*: its type was string'],
  ],
];

describe('a definition breaks stored objects by', () => {
  for (const [what, old, now, found] of cases)
    test(what, () => assert.deepEqual(breakingChanges(definition(old), definition(now)), found));

  test('a removed version, a version that is no longer served, and another scope', () => {
    const old = definition({});
    assert.deepEqual(breakingChanges(old, definition({}, { versions: [{ name: 'v2', served: true }] })), [
      'Mac v1: this version is gone',
    ]);
    assert.deepEqual(breakingChanges(old, definition({}, { versions: [{ name: 'v1', served: false }] })), [
      'Mac v1: this version is no longer served',
    ]);
    assert.deepEqual(breakingChanges(old, definition({}, { scope: 'Cluster' })), ['Mac: its scope was Namespaced']);
  });
});
