import { isObject } from '../object.ts';
import type { Cause } from '../status/cause.ts';
import { property, valueSchema } from './fields.ts';
import { goJson, goValue } from './go-text.ts';
import { at, inside, within } from './path.ts';
import type { Schema } from './schema.ts';

/** Lists of type set and map hold no element twice. */

const duplicate = (field: string, value: unknown): Cause => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${goValue(value)}`,
  field,
});

/** Where a value comes for the second time; the third and later ones are not reported. */
const secondTimes = (values: readonly unknown[]): number[] => {
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
    return [{ reason: 'FieldValueInvalid', message, field: at(path, stranger) }];
  }
  const keys = list.map((item) => keysOf(item, schema['x-kubernetes-list-map-keys'] ?? []));
  return secondTimes(keys).map((index) => duplicate(at(path, index), keys[index]));
};

const validateList = (list: readonly unknown[], schema: Schema, path: string): Cause[] => {
  const type = schema['x-kubernetes-list-type'];
  const own =
    type === 'set'
      ? secondTimes(list).map((index) => duplicate(at(path, index), list[index]))
      : type === 'map'
        ? validateMapList(list, schema, path)
        : [];
  const { items } = schema;
  return items ? [...own, ...list.flatMap((item, index) => validateListTypes(item, items, at(path, index)))] : own;
};

export const validateListTypes = (value: unknown, schema: Schema, path = ''): Cause[] => {
  if (Array.isArray(value)) return validateList(value, schema, path);
  if (!isObject(value)) return [];
  const values = valueSchema(schema);
  return Object.entries(value).flatMap(([key, field]) => {
    const named = property(schema, key);
    const known = values ? validateListTypes(field, values, inside(path, key)) : [];
    return named ? [...known, ...validateListTypes(field, named, within(path, key))] : known;
  });
};
