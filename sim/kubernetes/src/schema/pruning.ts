import { isObject, type KubeObject } from '../object.ts';
import { isBuiltIn, isMetaField, objectMetaSchema } from './object-meta.ts';
import { fieldSchema, propertySchema, type Schema, valueSchema } from './schema.ts';

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
    const child = propertySchema(schema, key);
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

const child = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

const hasFields = (schema: Schema): boolean =>
  schema.properties !== undefined || schema.additionalProperties !== undefined;

/** As Go's decoder meets them: in the order of the document, in structs only. What has no fields of its own takes any JSON. */
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

/** What pruning removes. `schema` is absent where nothing is known, and so nothing may be. */
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
 * Paths of the fields that strict decoding complains about, in the order in which it does: for built-in kinds that of the
 * document; for custom resources first `metadata`, then what pruning would remove, then the metadata of embedded resources.
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
