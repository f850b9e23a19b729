import { Duration } from '@marcbachmann/cel-js/evaluator';
import { isObject } from '../object.ts';
import { parseDuration } from '../schema/duration.ts';
import type { Schema } from '../schema/schema.ts';
import { visibleSchema } from './declaration.ts';
import { escapeName } from './escape.ts';

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

/** Sets are compared without regard to their order, which is what `Set` means to the evaluator. */
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
 * A JSON value as expressions see it: typed by its schema, without the fields that the schema does not know. Objects become
 * maps, so that no name of a field can reach a prototype.
 */
export const celValue = (value: unknown, schema: Schema, isRoot = false): unknown => {
  const visible = visibleSchema(schema, isRoot);
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return visible.type === 'string' ? ofString(value, visible) : value;
  if (typeof value === 'number') return visible.type !== 'number' && Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return ofList(value, visible);
  return isObject(value) ? ofObject(value, visible) : value;
};
