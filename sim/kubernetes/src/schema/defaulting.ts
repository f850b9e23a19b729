import { copy, isObject, set } from '../object.ts';
import { propertySchema, type Schema, valueSchema } from './schema.ts';

const hasDefault = (schema: Schema): boolean => schema.default !== undefined && schema.default !== null;

/** A null that the schema does not allow counts as absent. */
const isAbsent = (value: unknown, schema: Schema): boolean =>
  value === undefined || (value === null && schema.nullable !== true);

const fillFields = (value: Record<string, unknown>, schema: Schema): void => {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const present = Object.hasOwn(value, name) ? value[name] : undefined;
    if (hasDefault(field) && isAbsent(present, field)) set(value, name, copy(field.default));
  }
  const values = valueSchema(schema);
  for (const name of Object.keys(value)) {
    const named = propertySchema(schema, name);
    if (!named && values && value[name] === null && !values.nullable && hasDefault(values))
      set(value, name, copy(values.default));
    applySchemaDefaults(value[name], named ?? values ?? {});
  }
};

/**
 * Sets the defaults of the schema in place: in existing objects, and in the defaults themselves. An absent object without a default stays
 * absent.
 */
export const applySchemaDefaults = (value: unknown, schema: Schema): void => {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) return;
    for (const [index, item] of value.entries()) {
      if (item === null && !items.nullable && hasDefault(items)) value[index] = copy(items.default);
      applySchemaDefaults(value[index], items);
    }
  } else if (isObject(value)) {
    fillFields(value, schema);
  }
};
