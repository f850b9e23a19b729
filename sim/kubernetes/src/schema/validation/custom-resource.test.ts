import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Cause } from '../../errors/field-errors.ts';
import { copy, type KubeObject } from '../../object.ts';
import { applySchemaDefaults } from '../defaulting.ts';
import { prune } from '../pruning.ts';
import type { Schema } from '../schema.ts';
import recorded from './validate.recorded.generated.json' with { type: 'json' };
import { validateObject, validateObjectStatus } from './custom-resource.ts';

// Answers of kube-apiserver 1.36.3 to creates and, where there is an `old`, to updates. Of several causes it gives some in random order.

interface Case {
  name: string;
  object: object;
  old?: object;
  causes: Cause[];
}

const groups = recorded as unknown as { schema: Schema; cases: Case[] }[];

const stored = (fields: object, schema: Schema): KubeObject => {
  const metadata = { name: 'case', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  const object: KubeObject = { apiVersion: 'ex.io/v1', kind: 'Case', metadata, ...copy(fields) };
  prune(object, schema);
  applySchemaDefaults(object, schema);
  return object;
};

const sorted = (causes: readonly Cause[]): string[] =>
  causes.map(({ field, reason, message }) => `${field} | ${reason} | ${message}`).sort();

describe('validateObject', () => {
  for (const { schema, cases } of groups) {
    for (const { name, object, old, causes } of cases) {
      it(`responds as the real server: ${name} ${JSON.stringify(object)}`, () => {
        const before = old && stored(old, schema);
        assert.deepEqual(sorted(validateObject(stored(object, schema), schema, before)), sorted(causes));
      });
    }
  }

  it('does not evaluate rules on an object with wrong types', () => {
    const schema: Schema = {
      type: 'object',
      properties: { spec: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 0' }] } },
    };
    assert.deepEqual(
      validateObject(stored({ spec: 'x' }, schema), schema, undefined).map(({ field, message }) => [field, message]),
      [
        ['spec', 'Invalid value: "string": spec in body must be of type integer: "string"'],
        [
          '<nil>',
          'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
        ],
      ],
    );
  });

  it('refuses an object when a rule cannot be compiled', () => {
    const schema: Schema = { type: 'object', 'x-kubernetes-validations': [{ rule: 'nonsense(self)' }] };
    const [cause] = validateObject(stored({}, schema), schema, undefined);
    assert.match(cause?.message ?? '', /^Invalid value: "object": rule compile error: compilation failed: /);
  });
});

describe('validateStatus', () => {
  const schema: Schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { n: { type: 'integer', maximum: 1 } } },
      status: { type: 'object', properties: { message: { type: 'string', maxLength: 3 }, n: { type: 'integer' } } },
    },
  };
  const old = stored({ spec: { n: 5 }, status: { message: 'long', n: 1 } }, schema);

  it('validates only the status', () => {
    assert.deepEqual(
      validateObjectStatus(stored({ spec: { n: 5 }, status: { message: 'ok' } }, schema), schema, old),
      [],
    );
  });

  it('uses field paths from the root of the object, and from the root of the status in messages', () => {
    assert.deepEqual(validateObjectStatus(stored({ status: { n: 'x' } }, schema), schema, old), [
      {
        reason: 'FieldValueTypeInvalid',
        message: 'Invalid value: "string": n in body must be of type integer: "string"',
        field: 'status.n',
      },
    ]);
  });

  it('ratchets errors that existed before', () => {
    assert.deepEqual(validateObjectStatus(stored({ status: { message: 'long', n: 2 } }, schema), schema, old), []);
    assert.equal(validateObjectStatus(stored({ status: { message: 'longer' } }, schema), schema, old).length, 1);
  });
});
