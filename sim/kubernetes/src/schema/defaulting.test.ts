import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { copy } from '../object.ts';
import { applySchemaDefaults } from './defaulting.ts';
import type { Schema } from './schema.ts';
import { anyJson, aSchema } from './testing/arbitrary.ts';

const text = (value: string, more: Schema = {}): Schema => ({ type: 'string', default: value, ...more });
const root = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
});

const table: [name: string, schema: Schema, before: unknown, after: unknown][] = [
  ['an absent field', root({ a: text('x') }), {}, { a: 'x' }],
  ['a field that is there', root({ a: text('x') }), { a: 'y' }, { a: 'y' }],
  [
    'a falsy default',
    root({ n: { type: 'integer', default: 0 }, b: { type: 'boolean', default: false } }),
    {},
    { n: 0, b: false },
  ],
  ['an absent object', root({ o: root({ a: text('x') }) }), {}, {}],
  ['an object that is there', root({ o: root({ a: text('x') }) }), { o: {} }, { o: { a: 'x' } }],
  ['an object that is a default itself', root({ o: root({ a: text('x') }, { default: {} }) }), {}, { o: { a: 'x' } }],
  [
    'items',
    root({ l: { type: 'array', items: root({ a: text('x') }) } }),
    { l: [{}, { a: 'y' }] },
    { l: [{ a: 'x' }, { a: 'y' }] },
  ],
  [
    'values of a map',
    root({ m: { type: 'object', additionalProperties: root({ a: text('x') }) } }),
    { m: { k: {} } },
    { m: { k: { a: 'x' } } },
  ],
  ['a null that is not allowed', root({ a: text('x') }), { a: null }, { a: 'x' }],
  ['a null that is allowed', root({ a: text('x', { nullable: true }) }), { a: null }, { a: null }],
  ['a null item', root({ l: { type: 'array', items: text('x') } }), { l: [null, 'y'] }, { l: ['x', 'y'] }],
  [
    'a null value of a map',
    root({ m: { type: 'object', additionalProperties: text('x') } }),
    { m: { k: null } },
    { m: { k: 'x' } },
  ],
  ['a value of another type', root({ o: root({ a: text('x') }) }), { o: 'text' }, { o: 'text' }],
];

describe('applySchemaDefaults', () => {
  for (const [name, schema, before, after] of table) {
    it(`sets missing fields: ${name}`, () => {
      const given = copy(before);
      applySchemaDefaults(given, schema);
      assert.deepEqual(given, after);
    });
  }

  it('gives every object its own copy of a default', () => {
    const schema = root({ o: { type: 'object', default: { a: 1 } } });
    const one: { o?: { a: number } } = {};
    const other: { o?: { a: number } } = {};
    applySchemaDefaults(one, schema);
    applySchemaDefaults(other, schema);
    assert.ok(one.o);
    one.o.a = 2;
    assert.deepEqual(other, { o: { a: 1 } });
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(anyJson, aSchema, (given, schema) => {
        const once = copy(given);
        applySchemaDefaults(once, schema);
        const twice = copy(once);
        applySchemaDefaults(twice, schema);
        assert.deepEqual(twice, once);
      }),
    );
  });

  it('sets a field named __proto__ as a field', () => {
    const given: Record<string, unknown> = {};
    const properties = JSON.parse('{"__proto__":{"type":"object","default":{"polluted":1}}}') as Record<string, Schema>;
    applySchemaDefaults(given, { type: 'object', properties });
    assert.equal(Object.getPrototypeOf(given), Object.prototype);
    assert.deepEqual(Object.keys(given), ['__proto__']);
    assert.equal(Reflect.get({}, 'polluted'), undefined);
  });
});
