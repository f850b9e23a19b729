import { isObject, type KubeObject } from '../object.ts';
import { isBuiltIn, isMetaField, objectMetaSchema } from './object-meta.ts';
import { fieldSchema, propertySchema, type Schema, valueSchema } from './schema.ts';

/** In a built-in kind a bare `type: object` accepts any JSON; in a custom resource it accepts no fields. */
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
    const child = propertySchema(schema, key);
    if (child) pruneValue(value[key], child, false, builtIn);
    else if (schema.additionalProperties !== undefined) pruneValue(value[key], valueSchema(schema), false, builtIn);
    else if (!keepUnknown) delete value[key];
  }
};

/**
 * Without a schema all fields are removed. A list with x-kubernetes-preserve-unknown-fields keeps those of its items, but not those of
 * deeper objects with their own schema.
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

/** Go decodes `null` as absent. Where there is a default, defaulting replaces the null instead. */
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

/** Removes unknown fields in place. `apiVersion`, `kind` and the standard fields of `metadata` stay, whether or not the schema has them. */
export const prune = (object: KubeObject, schema: Schema): void => {
  const builtIn = isBuiltIn(schema);
  pruneValue(object, { ...schema, 'x-kubernetes-embedded-resource': true }, false, builtIn);
  dropNulls(object, schema);
};

const child = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

const hasFields = (schema: Schema): boolean =>
  schema.properties !== undefined || schema.additionalProperties !== undefined;

/** In the order of Go's decoder: that of the document, in structs only. A type without fields accepts any JSON. */
const decoded = (value: unknown, schema: Schema | undefined, path: string): string[] => {
  if (!schema) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => decoded(item, schema.items, `${path}[${index}]`));
  if (!isObject(value) || !hasFields(schema)) return [];
  return Object.entries(value).flatMap(([key, field]) => {
    const known = propertySchema(schema, key);
    if (known) return decoded(field, known, child(path, key));
    if (schema.additionalProperties !== undefined) return decoded(field, valueSchema(schema), child(path, key));
    return [child(path, key)];
  });
};

/** The fields that pruning removes. `schema` is absent where no field is allowed. */
const pruned = (value: unknown, schema: Schema | undefined, path: string, inherited = false): string[] => {
  const keepUnknown = inherited || schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  if (keepUnknown && schema === undefined) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => pruned(item, schema?.items, `${path}[${index}]`, keepUnknown));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, field]) => {
    if (isMetaField(key) && (path === '' || schema?.['x-kubernetes-embedded-resource'])) return [];
    const known = schema && propertySchema(schema, key);
    if (known) return pruned(field, known, child(path, key));
    if (schema?.additionalProperties !== undefined) return pruned(field, valueSchema(schema), child(path, key));
    return keepUnknown ? [] : [child(path, key)];
  });
};

const embeddedMetadata = (value: unknown, schema: Schema | undefined, path: string): string[] => {
  if (!schema) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) => embeddedMetadata(item, schema.items, `${path}[${index}]`));
  if (!isObject(value)) return [];
  const own =
    path !== '' && schema['x-kubernetes-embedded-resource']
      ? decoded(value['metadata'], objectMetaSchema, child(path, 'metadata'))
      : [];
  const nested = Object.entries(value).flatMap(([key, field]) =>
    embeddedMetadata(field, propertySchema(schema, key) ?? valueSchema(schema), child(path, key)),
  );
  return [...own, ...nested];
};

const inOrder = (paths: string[]): string[] => paths.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));

/**
 * Paths of unknown fields in the order in which strict decoding reports them: for built-in kinds that of the document; for custom resources
 * first `metadata`, then what pruning would remove, then the metadata of embedded resources.
 */
export const unknownFields = (object: unknown, schema: Schema): string[] => {
  if (isBuiltIn(schema)) return decoded(object, schema, '');
  const metadata = isObject(object) ? object['metadata'] : undefined;
  return [
    ...decoded(metadata, objectMetaSchema, 'metadata'),
    ...inOrder(pruned(object, schema, '')),
    ...inOrder(embeddedMetadata(object, schema, '')),
  ];
};
