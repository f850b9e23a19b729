import { equal, isObject } from '../../object.ts';
import { fieldSchema, type Schema } from '../schema.ts';

/** A value and its old value. Without an old value there is no correlation. */
export interface Correlation {
  value: unknown;
  old: unknown;
  schema: Schema;
}

export const isUnchanged = (correlation: Correlation | undefined): boolean =>
  correlation !== undefined && equal(correlation.value, correlation.old);

export const correlatedField = (correlation: Correlation | undefined, name: string): Correlation | undefined => {
  if (!correlation || !isObject(correlation.value) || !isObject(correlation.old)) return undefined;
  const { value, old } = correlation;
  const schema = fieldSchema(correlation.schema, name);
  if (!schema || !Object.hasOwn(value, name) || !Object.hasOwn(old, name)) return undefined;
  return { value: value[name], old: old[name], schema };
};

const keyOf = (item: unknown, schema: Schema): string | undefined => {
  if (!isObject(item)) return undefined;
  return JSON.stringify(
    (schema['x-kubernetes-list-map-keys'] ?? []).map((name) =>
      Object.hasOwn(item, name) ? [item[name]] : [schema.items?.properties?.[name]?.default ?? null],
    ),
  );
};

/** The item of the old list with the same keys. Only items of lists of type map can be correlated. */
export const correlatedOldItem = (item: unknown, old: unknown, schema: Schema): unknown => {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return undefined;
  const key = keyOf(item, schema);
  if (key === undefined) return undefined;
  return old.find((candidate) => keyOf(candidate, schema) === key);
};

export const correlatedItem = (correlation: Correlation | undefined, index: number): Correlation | undefined => {
  if (!correlation || !Array.isArray(correlation.value) || !correlation.schema.items) return undefined;
  const value: unknown = correlation.value[index];
  const old = correlatedOldItem(value, correlation.old, correlation.schema);
  return old === undefined ? undefined : { value, old, schema: correlation.schema.items };
};
