import type { Schema } from './schema.ts';

/** The schema of a property that is named, never one that the prototype of an object brings along. */
export const property = (schema: Schema, name: string): Schema | undefined =>
  schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;

/** The schema of the values of a map; `true` and `false` say nothing about them. */
export const valueSchema = (schema: Schema): Schema | undefined =>
  typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;

/** The schema of whatever stands under `name`. */
export const fieldSchema = (schema: Schema | undefined, name: string): Schema | undefined =>
  schema && (property(schema, name) ?? valueSchema(schema));
