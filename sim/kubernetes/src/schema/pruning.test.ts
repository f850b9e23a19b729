import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { schemaOf } from '../generated/catalogue.ts';
import { copy, type KubeObject } from '../object.ts';
import { prune } from './pruning.ts';
import type { Schema } from './schema.ts';
import { anObject, aSchema } from './testing/arbitrary.ts';

const object = (fields: object, metadata: object = {}): KubeObject =>
  ({ apiVersion: 'ex.io/v1', kind: 'Thing', metadata: { name: 'a', ...metadata }, ...fields }) as KubeObject;

const text: Schema = { type: 'string' };
const root = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
});

const table: [name: string, schema: Schema, before: object, after: object][] = [
  ['an unknown field goes', root({ a: text }), { a: 'x', b: 'y' }, { a: 'x' }],
  ['fields below go', root({ o: root({ a: text }) }), { o: { a: 'x', b: 1 } }, { o: { a: 'x' } }],
  ['an object without properties keeps nothing', root({ o: { type: 'object' } }), { o: { a: 1 } }, { o: {} }],
  [
    'fields of items go',
    root({ l: { type: 'array', items: root({ a: text }) } }),
    { l: [{ a: 'x', b: 1 }] },
    { l: [{ a: 'x' }] },
  ],
  [
    'values of a map stay',
    root({ m: { type: 'object', additionalProperties: text } }),
    { m: { k: 'v' } },
    { m: { k: 'v' } },
  ],
  [
    'fields of the values of a map go',
    root({ m: { type: 'object', additionalProperties: root({ a: text }) } }),
    { m: { k: { a: 'x', b: 1 } } },
    { m: { k: { a: 'x' } } },
  ],
  [
    'what is preserved stays, but for fields with a schema',
    root({ o: root({ known: root({ a: text }) }, { 'x-kubernetes-preserve-unknown-fields': true }) }),
    { o: { free: { x: 1 }, known: { a: 'x', b: 1 } } },
    { o: { free: { x: 1 }, known: { a: 'x' } } },
  ],
  [
    'a list that preserves does so in its items',
    root({ l: { type: 'array', items: root({ a: text }), 'x-kubernetes-preserve-unknown-fields': true } }),
    { l: [{ a: 'x', b: 1 }] },
    { l: [{ a: 'x', b: 1 }] },
  ],
  ['an int-or-string stays', root({ p: { 'x-kubernetes-int-or-string': true } }), { p: '50%' }, { p: '50%' }],
  [
    'an embedded resource keeps its type and metadata',
    root({ e: root({ spec: root({}) }, { 'x-kubernetes-embedded-resource': true }) }),
    { e: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', nope: 1 }, spec: { a: 1 }, other: 1 } },
    { e: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: {} } },
  ],
  ['a null goes', root({ a: text }), { a: null }, {}],
  ['a null that is allowed stays', root({ a: { ...text, nullable: true } }), { a: null }, { a: null }],
  ['a null that has a default waits for it', root({ a: { ...text, default: 'x' } }), { a: null }, { a: null }],
];

describe('prune', () => {
  for (const [name, schema, before, after] of table) {
    it(`keeps fields of the schema: ${name}`, () => {
      const given = object(before);
      prune(given, schema);
      assert.deepEqual(given, object(after));
    });
  }

  it('keeps the standard fields of metadata', () => {
    const given = object({}, { labels: { a: 'b' }, nope: 1, ownerReferences: [{ uid: 'u', nope: 1 }] });
    prune(given, root({}));
    assert.deepEqual(given, object({}, { labels: { a: 'b' }, ownerReferences: [{ uid: 'u' }] }));
  });

  it('keeps any JSON in fields of built-in kinds that allow it', () => {
    const schema = schemaOf('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition');
    assert.ok(schema);
    const version = (more: object) => ({
      spec: {
        versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object', default: { a: { b: 1 } } } }, ...more }],
      },
    });
    const fields = { managedFields: [{ fieldsV1: { 'f:spec': {} } }] };
    const given = object(version({ nope: 1 }), fields);
    prune(given, schema);
    assert.deepEqual(given, object(version({}), fields));
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(anObject, aSchema, (given, schema) => {
        const once = copy(given);
        prune(once, schema);
        const twice = copy(once);
        prune(twice, schema);
        assert.deepEqual(twice, once);
      }),
    );
  });

  it('does not reach a prototype', () => {
    const given = object(
      JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as object,
    );
    const schema = root({ a: text });
    prune(given, schema);
    assert.deepEqual(Object.keys(given), ['apiVersion', 'kind', 'metadata']);
    assert.equal(Reflect.get({}, 'polluted'), undefined);
    assert.equal(Object.getPrototypeOf(given), Object.prototype);
  });
});
