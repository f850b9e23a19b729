import fc from 'fast-check';
import { isObject, type Json, type KubeObject } from '../../object.ts';
import type { Schema, ValidationRule } from '../schema.ts';

/** Arbitrary schemas and objects for property tests. Few names, so that they often collide. */

const name = fc.constantFrom('a', 'b', 'name', 'spec', 'metadata', '__proto__', 'constructor');

const asSchema = (schema: Schema): Schema => schema;

const leaf: fc.Arbitrary<Schema> = fc.oneof(
  fc
    .record(
      {
        type: fc.constantFrom('string' as const),
        maxLength: fc.nat(5),
        pattern: fc.constantFrom('^a', '[', '(a+)+$'),
        format: fc.constantFrom('date-time', 'ipv4', 'duration', 'nonsense'),
        enum: fc.constant<Json[]>(['a', null]),
        nullable: fc.boolean(),
        default: fc.constantFrom<Json>('x', 5),
      },
      { requiredKeys: ['type'] },
    )
    .map(asSchema),
  fc
    .record(
      {
        type: fc.constantFrom('integer' as const, 'number' as const, 'boolean' as const),
        minimum: fc.integer(),
        multipleOf: fc.constantFrom(0, 0.1, 3),
        'x-kubernetes-validations': fc.constant<ValidationRule[]>([{ rule: 'self > 0' }]),
      },
      { requiredKeys: ['type'] },
    )
    .map(asSchema),
  fc.constant<Schema>({ 'x-kubernetes-int-or-string': true }),
  fc.constant<Schema>({}),
);

export const aSchema: fc.Arbitrary<Schema> = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc
      .record(
        {
          type: fc.constant('object' as const),
          properties: fc.dictionary(name, tie('schema'), { maxKeys: 4 }),
          required: fc.array(name, { maxLength: 2 }),
          'x-kubernetes-preserve-unknown-fields': fc.constant(true),
          'x-kubernetes-embedded-resource': fc.boolean(),
          'x-kubernetes-validations': fc.constant<ValidationRule[]>([{ rule: 'has(self.a) || true' }]),
          anyOf: fc.array(tie('schema'), { maxLength: 2 }),
          not: tie('schema'),
        },
        { requiredKeys: ['type'] },
      )
      .map(asSchema),
    fc
      .record({ type: fc.constant('object' as const), additionalProperties: fc.oneof(fc.boolean(), tie('schema')) })
      .map(asSchema),
    fc
      .record(
        {
          type: fc.constant('array' as const),
          items: tie('schema'),
          'x-kubernetes-list-type': fc.constantFrom('set' as const, 'map' as const),
          'x-kubernetes-list-map-keys': fc.array(name, { maxLength: 2 }),
        },
        { requiredKeys: ['type', 'items'] },
      )
      .map(asSchema),
  ),
})).schema;

/** Any JSON, with keys that occur in schemas. */
export const anyJson: fc.Arbitrary<unknown> = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.string({ maxLength: 6 }), fc.integer(), fc.double(), fc.boolean(), fc.constant(null)),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(name, tie('json'), { maxKeys: 4 }),
  ),
})).json;

export const anObject: fc.Arbitrary<KubeObject> = anyJson.map((fields) => ({
  ...(isObject(fields) ? fields : { spec: fields }),
  apiVersion: 'ex.io/v1',
  kind: 'Thing',
  metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
}));
