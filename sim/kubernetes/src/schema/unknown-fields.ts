import { isObject } from '../object.ts';
import { property, valueSchema } from './fields.ts';
import { isBuiltIn, isMetaField, objectMetaSchema } from './object-meta.ts';
import type { Schema } from './schema.ts';

const child = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

const hasFields = (schema: Schema): boolean =>
  schema.properties !== undefined || schema.additionalProperties !== undefined;

/** As Go's decoder meets them: in the order of the document, in structs only. What has no fields of its own takes any JSON. */
const decoded = (value: unknown, schema: Schema | undefined, path: string): string[] => {
  if (!schema) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => decoded(item, schema.items, `${path}[${index}]`));
  if (!isObject(value) || !hasFields(schema)) return [];
  return Object.entries(value).flatMap(([key, field]) => {
    const known = property(schema, key);
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
    const known = schema && property(schema, key);
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
    embeddedMetadata(field, property(schema, key) ?? valueSchema(schema), child(path, key)),
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
