import type { Environment } from '@marcbachmann/cel-js';
import { Duration } from '@marcbachmann/cel-js/evaluator';
import { parseDuration } from '../go/time.ts';
import { isObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';

/** Property names as identifiers in CEL. */

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** The identifier for a property, or undefined when it has none: then expressions cannot access it. */
const escapeName = (name: string): string | undefined => {
  if (reserved.has(name)) return `__${name}__`;
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  return name.replaceAll(/__|[./-]/g, (part) => escapes[part] ?? part);
};

/** Fields that rules at the root of a resource see in addition: only the names in `metadata`. */
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

/** The schema that rules at this level see. */
const visibleSchema = (schema: Schema, isRoot: boolean): Schema =>
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
 * Declares types for a schema and its children, and returns the name of its type. Undefined: expressions cannot access such values, because
 * their type is unknown.
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

const second = 1_000_000_000n;

const ofString = (value: string, schema: Schema): unknown => {
  switch (schema.format) {
    case 'byte':
      return new Uint8Array(Buffer.from(value, 'base64'));
    case 'duration': {
      const nanoseconds = parseDuration(value) ?? 0n;
      return new Duration(nanoseconds / second, Number(nanoseconds % second));
    }
    case 'date':
    case 'date-time':
      return new Date(value);
    case undefined:
    default:
      return value;
  }
};

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** Sets are compared without order, which is what `Set` does in the evaluator. */
const ofList = (value: readonly unknown[], schema: Schema): unknown => {
  const items = value.map((item) => celValue(item, schema.items ?? {}));
  return schema['x-kubernetes-list-type'] === 'set' && items.every(isScalar) ? new Set(items) : items;
};

const ofObject = (value: Record<string, unknown>, schema: Schema): Map<string, unknown> => {
  const fields = new Map<string, unknown>();
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object') {
    for (const [key, field] of Object.entries(value)) fields.set(key, celValue(field, additionalProperties));
    return fields;
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeName(name);
    if (escaped !== undefined && Object.hasOwn(value, name)) fields.set(escaped, celValue(value[name], property));
  }
  return fields;
};

/**
 * A JSON value as expressions see it: typed by its schema, without undeclared fields. Objects become maps, so that no field name can reach
 * a prototype.
 */
export const celValue = (value: unknown, schema: Schema, isRoot = false): unknown => {
  const visible = visibleSchema(schema, isRoot);
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return visible.type === 'string' ? ofString(value, visible) : value;
  if (typeof value === 'number') return visible.type !== 'number' && Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return ofList(value, visible);
  return isObject(value) ? ofObject(value, visible) : value;
};
