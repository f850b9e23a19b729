import { type Cause, invalid, required } from '../../errors/field-errors.ts';
import { goJson, goValue } from '../../go/fmt.ts';
import { isObject, type KubeObject } from '../../object.ts';
import { dns1035Label } from '../../registry/validation/names.ts';
import { childPath, indexPath, keyPath } from '../field-path.ts';
import { propertySchema, type Schema, valueSchema } from '../schema.ts';
import { hasRules, validateRules } from './cel-rules.ts';
import { causesOf } from './result.ts';
import { validateValue } from './values.ts';

/** Lists of type set and map must not contain duplicates. */

const duplicateValue = (field: string, value: unknown): Cause => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${goValue(value)}`,
  field,
});

/** The second occurrence of each value; later ones are not reported. */
const duplicateIndexes = (values: readonly unknown[]): number[] => {
  const seen = new Map<string, number>();
  return values.flatMap((value, index) => {
    const key = `${typeof value}:${goJson(value)}`;
    const count = (seen.get(key) ?? 0) + 1;
    seen.set(key, count);
    return count === 2 ? [index] : [];
  });
};

const keysOf = (item: unknown, names: readonly string[]): Record<string, unknown> =>
  isObject(item)
    ? Object.fromEntries(names.filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]]))
    : {};

const validateMapList = (list: readonly unknown[], schema: Schema, path: string): Cause[] => {
  const stranger = list.findIndex((item) => item !== null && !isObject(item));
  if (stranger >= 0) {
    const message = `Invalid value: ${goValue(list[stranger])}: must be an object for an array of list-type map`;
    return [{ reason: 'FieldValueInvalid', message, field: indexPath(path, stranger) }];
  }
  const keys = list.map((item) => keysOf(item, schema['x-kubernetes-list-map-keys'] ?? []));
  return duplicateIndexes(keys).map((index) => duplicateValue(indexPath(path, index), keys[index]));
};

const validateList = (list: readonly unknown[], schema: Schema, path: string): Cause[] => {
  const type = schema['x-kubernetes-list-type'];
  const own =
    type === 'set'
      ? duplicateIndexes(list).map((index) => duplicateValue(indexPath(path, index), list[index]))
      : type === 'map'
        ? validateMapList(list, schema, path)
        : [];
  const { items } = schema;
  return items
    ? [...own, ...list.flatMap((item, index) => validateListTypes(item, items, indexPath(path, index)))]
    : own;
};

const validateListTypes = (value: unknown, schema: Schema, path = ''): Cause[] => {
  if (Array.isArray(value)) return validateList(value, schema, path);
  if (!isObject(value)) return [];
  const values = valueSchema(schema);
  return Object.entries(value).flatMap(([key, field]) => {
    const named = propertySchema(schema, key);
    const known = values ? validateListTypes(field, values, keyPath(path, key)) : [];
    return named ? [...known, ...validateListTypes(field, named, childPath(path, key))] : known;
  });
};

/** Embedded resources need apiVersion, kind and metadata. */

const invalidValue = (field: string, value: unknown, detail: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${goValue(value)}: ${detail}`,
  field,
});

const validateApiVersion = (value: unknown, field: string): Cause[] => {
  if (typeof value !== 'string') return [invalidValue(field, value, 'must be a string')];
  if (value === '') return [invalid(field, value, 'must not be empty')];
  if (value.split('/').length > 2) return [invalid(field, value, `unexpected GroupVersion string: ${value}`)];
  return [];
};

const validateKind = (value: unknown, field: string): Cause[] => {
  if (typeof value !== 'string') return [invalidValue(field, value, 'must be a string')];
  if (value === '') return [invalid(field, value, 'must not be empty')];
  const problems = dns1035Label(value.toLowerCase());
  if (problems.length === 0) return [];
  return [invalid(field, value, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
};

const validateName = (metadata: unknown, path: string): Cause[] => {
  const name = isObject(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string' || name === '') return [];
  const field = `${path}.name`;
  if (name === '.' || name === '..') return [invalid(field, name, `may not be '${name}'`)];
  return ['/', '%']
    .filter((character) => name.includes(character))
    .map((character) => invalid(field, name, `may not contain '${character}'`));
};

const validateResource = (value: Record<string, unknown>, path: string): Cause[] => [
  ...['apiVersion', 'kind']
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => required(childPath(path, name))),
  ...(Object.hasOwn(value, 'apiVersion') ? validateApiVersion(value['apiVersion'], childPath(path, 'apiVersion')) : []),
  ...(Object.hasOwn(value, 'kind') ? validateKind(value['kind'], childPath(path, 'kind')) : []),
  ...validateName(value['metadata'], childPath(path, 'metadata')),
];

export const validateEmbedded = (value: unknown, schema: Schema | undefined, path = ''): Cause[] => {
  if (!schema) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) => validateEmbedded(item, schema.items, indexPath(path, index)));
  if (!isObject(value)) return [];
  const own = schema['x-kubernetes-embedded-resource'] ? validateResource(value, path) : [];
  const nested = Object.entries(value).flatMap(([key, field]) => {
    const named = propertySchema(schema, key);
    return named
      ? validateEmbedded(field, named, childPath(path, key))
      : validateEmbedded(field, valueSchema(schema), keyPath(path, key));
  });
  return [...own, ...nested];
};

/** CEL rules may rely on types, lengths and required fields, so they are skipped for an object with these errors. */
const typeErrorReasons = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const rulesNotChecked: Cause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  field: '<nil>',
};

const rulesUnlessInvalid = (
  causes: readonly Cause[],
  object: KubeObject,
  schema: Schema,
  old: KubeObject | undefined,
): Cause[] => {
  if (!hasRules(schema)) return [];
  if (causes.some(({ reason }) => typeErrorReasons.has(reason))) return [rulesNotChecked];
  return validateRules(object, schema, old, { isRoot: true, ratchets: true });
};

/** A list that already had duplicates may keep them. */
const listCauses = (object: KubeObject, schema: Schema, old: KubeObject | undefined): Cause[] =>
  old && validateListTypes(old, schema).length > 0 ? [] : validateListTypes(object, schema);

/**
 * Validates a custom resource against its schema, in the order of the real server. With `old` it is an update: errors in unchanged parts
 * are ignored (ratcheting). `more` are errors that the caller found.
 */
export const validateObject = (
  object: KubeObject,
  schema: Schema,
  old: KubeObject | undefined,
  more: readonly Cause[] = [],
): Cause[] => {
  const correlation = old && { value: object, old, schema };
  const causes = [
    ...causesOf(validateValue(object, schema, '', correlation), ''),
    ...more,
    ...validateEmbedded(object, schema),
    ...listCauses(object, schema, old),
  ];
  return [...causes, ...rulesUnlessInvalid(causes, object, schema, old)];
};

/** The same for a write to `/status`: only the status is validated against the schema, but all rules apply. */
export const validateObjectStatus = (
  object: KubeObject,
  schema: Schema,
  old: KubeObject,
  more: readonly Cause[] = [],
): Cause[] => {
  const status = isObject(schema) ? propertySchema(schema, 'status') : undefined;
  const before = old['status'];
  const correlation =
    status && before !== undefined ? { value: object['status'], old: before, schema: status } : undefined;
  const structure =
    status && object['status'] !== undefined
      ? causesOf(validateValue(object['status'], status, '', correlation), 'status')
      : [];
  const causes = [...structure, ...more, ...listCauses(object, schema, old)];
  return [...causes, ...rulesUnlessInvalid(causes, object, schema, old)];
};
