import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Schema } from '../schema.ts';
import { anObject, aSchema } from '../testing/arbitrary.ts';
import { validateObject } from './custom-resource.ts';
import { validateValue } from './values.ts';

describe('validateStructure', () => {
  it('never throws, whatever the object and the schema', () => {
    fc.assert(
      fc.property(anObject, fc.option(anObject, { nil: undefined }), aSchema, (object, old, schema) => {
        assert.ok(Array.isArray(validateObject(object, schema, old)));
      }),
    );
  });

  it('ratchets all errors in an update that changes nothing', () => {
    fc.assert(
      fc.property(anObject, aSchema, (object, schema) => {
        const correlation = { value: object, old: object, schema };
        assert.deepEqual(validateValue(object, schema, '', correlation).errors, []);
      }),
    );
  });

  it('does not ratchet type errors of the whole object', () => {
    const schema: Schema = { type: 'object', properties: { kind: { type: 'string', enum: ['Other'] } } };
    const correlation = { value: { kind: 'Thing', a: 1 }, old: { kind: 'Thing' }, schema };
    assert.deepEqual(
      validateValue(correlation.value, schema, '', correlation).errors.map(({ name }) => name),
      ['kind'],
    );
  });

  it('does not correlate items in a list without keys', () => {
    const items: Schema = { type: 'object', properties: { n: { type: 'integer', maximum: 1 } } };
    const schema: Schema = { type: 'array', items };
    const correlation = { value: [{ n: 9 }, { n: 0 }], old: [{ n: 9 }], schema };
    assert.deepEqual(
      validateValue(correlation.value, schema, 'l', correlation).errors.map(({ name }) => name),
      ['l[0].n'],
    );
  });

  it('reports each error once', () => {
    const schema: Schema = { type: 'string', allOf: [{ minLength: 3 }, { minLength: 3 }] };
    assert.deepEqual(
      validateValue('a', schema, 's').errors.map(({ text }) => text),
      ['s in body should be at least 3 chars long', '"s" must validate all the schemas (allOf). None validated'],
    );
  });

  it('does not backtrack exponentially', () => {
    const schema: Schema = { type: 'string', pattern: '^(a+)+$' };
    assert.equal(validateValue(`${'a'.repeat(10_000)}!`, schema, 'a').errors.length, 1);
  });

  it('does not treat a property of the prototype as a field', () => {
    const schema: Schema = { type: 'object', required: ['toString', 'constructor'] };
    assert.deepEqual(
      validateValue({}, schema, 'a').errors.map(({ name }) => name),
      ['a.toString', 'a.constructor'],
    );
  });
});
