import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reachableSchemas, stripDescriptions } from './schemas.ts';

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });

test('descriptions are removed at every depth', () => {
  const schema = {
    description: 'a thing',
    title: 'Thing',
    type: 'object',
    properties: {
      list: {
        description: 'x',
        type: 'array',
        items: { description: 'y', allOf: [{ description: 'z', ...reference('A') }] },
      },
      map: { type: 'object', additionalProperties: { description: 'w', type: 'string' } },
      either: { oneOf: [{ description: 'v', type: 'string' }], anyOf: [{ title: 'u', type: 'number' }] },
    },
  };
  assert.deepEqual(stripDescriptions(schema, { keepKinds: true }), {
    type: 'object',
    properties: {
      list: { type: 'array', items: { allOf: [reference('A')] } },
      map: { type: 'object', additionalProperties: { type: 'string' } },
      either: { oneOf: [{ type: 'string' }], anyOf: [{ type: 'number' }] },
    },
  });
});

test('fields named like descriptions are kept', () => {
  const schema = { properties: { description: { type: 'string' }, title: { type: 'string' } } };
  assert.deepEqual(stripDescriptions(schema, { keepKinds: true }), schema);
});

test('defaults are kept, whatever their keys', () => {
  const schema = { type: 'object', default: { description: 'kept', b: 1, a: 2 } };
  assert.equal(
    JSON.stringify(stripDescriptions(schema, { keepKinds: true })),
    '{"default":{"description":"kept","b":1,"a":2},"type":"object"}',
  );
});

test('keys are sorted, field names too', () => {
  const schema = { type: 'object', properties: { b: { type: 'string', format: 'byte' }, a: { type: 'string' } } };
  assert.equal(
    JSON.stringify(stripDescriptions(schema, { keepKinds: true })),
    '{"properties":{"a":{"type":"string"},"b":{"format":"byte","type":"string"}},"type":"object"}',
  );
});

test('the kinds of a schema are kept only on request', () => {
  const schema = { 'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Pod' }] };
  assert.deepEqual(stripDescriptions(schema, { keepKinds: true }), schema);
  assert.deepEqual(stripDescriptions(schema, { keepKinds: false }), {});
});

test('exactly the schemas reachable from the roots are kept, through cycles and lists', () => {
  const schemas = {
    C: { properties: { a: { allOf: [reference('A')] } } },
    A: { properties: { b: { items: reference('B') } } },
    B: { additionalProperties: reference('C') },
    Stranger: { type: 'object' },
  };
  assert.deepEqual(Object.keys(reachableSchemas(schemas, ['C'])), ['A', 'B', 'C']);
});

test('a field named $ref is a field', () => {
  assert.deepEqual(Object.keys(reachableSchemas({ A: { properties: { $ref: { type: 'string' } } } }, ['A'])), ['A']);
});

test('a dangling reference is an error that names it', () => {
  assert.throws(() => reachableSchemas({ A: reference('Lost') }, ['A']), /no schema Lost/);
});
