import type { Environment } from '@marcbachmann/cel-js';
import type { Schema } from '../schema/schema.ts';
import { escapeName } from './escape.ts';

/** What rules at the root of a resource see beside its own fields: of `metadata`, no more than the names. */
const text: Schema = { type: 'string' };
const metaProperties: Record<string, Schema> = {
  apiVersion: text,
  kind: text,
  metadata: { type: 'object', properties: { name: text, generateName: text } },
};

const withMeta = (schema: Schema): Schema => ({
  ...schema,
  properties: { ...schema.properties, ...metaProperties },
});

/** The schema that rules at this place are written against. */
export const visibleSchema = (schema: Schema, isRoot: boolean): Schema =>
  isRoot || schema['x-kubernetes-embedded-resource'] ? withMeta(schema) : schema;

const scalarType = (schema: Schema): string | undefined => {
  switch (schema.type) {
    case 'boolean':
      return 'bool';
    case 'integer':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      if (schema.format === 'byte') return 'bytes';
      if (schema.format === 'duration') return 'google.protobuf.Duration';
      return schema.format === 'date' || schema.format === 'date-time' ? 'google.protobuf.Timestamp' : 'string';
    case 'array':
    case 'object':
    case undefined:
    default:
      return undefined;
  }
};

/**
 * Declares types for a schema and all below it, and answers the name of its own. Undefined means that expressions cannot see such
 * values, since nothing is known about them.
 */
export const declareType = (environment: Environment, schema: Schema, isRoot: boolean): string | undefined => {
  let count = 0;
  const declare = (part: Schema, root: boolean): string | undefined => {
    if (part['x-kubernetes-int-or-string']) return 'dyn';
    const visible = visibleSchema(part, root);
    if (visible.type === 'array') {
      const items = visible.items && declare(visible.items, false);
      return items && `list<${items}>`;
    }
    if (visible.type !== 'object') return scalarType(visible);
    if (typeof visible.additionalProperties === 'object') {
      const values = declare(visible.additionalProperties, false);
      return values && `map<string, ${values}>`;
    }
    const fields: Record<string, string> = {};
    for (const [name, property] of Object.entries(visible.properties ?? {})) {
      const escaped = escapeName(name);
      const type = declare(property, false);
      if (escaped !== undefined && type !== undefined) fields[escaped] = type;
    }
    const name = `object${count++}`;
    environment.registerType(name, { fields });
    environment.registerOperator(`${name} == ${name}`, () => false);
    environment.registerOperator(`${name} == null`, () => false);
    return name;
  };
  return declare(schema, isRoot);
};
