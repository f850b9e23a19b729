import { isObject, type KubeObject } from '../object.ts';
import { fieldSchema, property, valueSchema } from './fields.ts';
import { isBuiltIn, isMetaField, objectMetaSchema } from './object-meta.ts';
import type { Schema } from './schema.ts';

/** A built-in kind says `type: object` and nothing more where it takes any JSON. A custom resource then takes nothing. */
const isOpaque = (schema: Schema): boolean =>
  schema.properties === undefined && schema.additionalProperties === undefined && schema.items === undefined;

const pruneMetadata = (metadata: unknown): void => {
  if (isObject(metadata)) pruneValue(metadata, objectMetaSchema, false, false);
};

const pruneFields = (value: Record<string, unknown>, schema: Schema, keepUnknown: boolean, builtIn: boolean): void => {
  for (const key of Object.keys(value)) {
    if (schema['x-kubernetes-embedded-resource'] && isMetaField(key)) {
      if (key === 'metadata') pruneMetadata(value[key]);
      continue;
    }
    const child = property(schema, key);
    if (child) pruneValue(value[key], child, false, builtIn);
    else if (schema.additionalProperties !== undefined) pruneValue(value[key], valueSchema(schema), false, builtIn);
    else if (!keepUnknown) delete value[key];
  }
};

/**
 * Without a schema nothing is known of the value, so that all its fields go. A list that keeps unknown fields keeps those of its
 * items, but not those of objects further down that have a schema of their own.
 */
export const pruneValue = (value: unknown, schema: Schema | undefined, inherited: boolean, builtIn: boolean): void => {
  if (builtIn && (schema === undefined || isOpaque(schema))) return;
  const keepUnknown = inherited || schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  if (keepUnknown && schema === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) pruneValue(item, schema?.items, keepUnknown, builtIn);
  } else if (isObject(value)) {
    pruneFields(value, schema ?? {}, keepUnknown, builtIn);
  }
};

/** Go decodes `null` as "absent". Where there is a default, defaulting replaces the null instead. */
const dropNulls = (value: unknown, schema: Schema | undefined): void => {
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item, schema?.items);
  } else if (isObject(value)) {
    for (const [key, field] of Object.entries(value)) {
      const child = fieldSchema(schema, key);
      if (field === null && child && !child.nullable && (child.default ?? null) === null) delete value[key];
      else dropNulls(field, child);
    }
  }
};

/**
 * Removes what the schema does not know, in place. `apiVersion`, `kind` and what every `metadata` may hold stay, whether or not
 * the schema mentions them.
 */
export const prune = (object: KubeObject, schema: Schema): void => {
  const builtIn = isBuiltIn(schema);
  pruneValue(object, { ...schema, 'x-kubernetes-embedded-resource': true }, false, builtIn);
  dropNulls(object, schema);
};
