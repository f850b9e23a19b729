import { type Json, copy, isObject, type KubeObject, set } from '../object.ts';
import { canonicalQuantity, canonicalResourceQuantity, quantityFormatError } from '../quantity.ts';
import type { Schema } from '../schema/schema.ts';
import { badRequest } from '../status/api-error.ts';
import { canonicalBase64 } from './base64.ts';
import { isMicroTime, isPointer, isWrittenList, isWrittenTime, isWrittenZero } from './go-fields.ts';
import { canonicalMicroTime, canonicalTime, TimeError } from './go-time.ts';

/** Why Go could not decode a body that is valid JSON. */
class DecodingError extends Error {}

const isQuantity = (schema: Schema): boolean => schema.oneOf?.some(({ type }) => type === 'number') === true;

const zeroOf = (schema: Schema): Json => {
  if (schema.type === 'boolean') return false;
  return schema.type === 'integer' || schema.type === 'number' ? 0 : '';
};

const isZero = (value: unknown): boolean => value === undefined || value === '' || value === 0 || value === false;

const time = (name: string, value: unknown): unknown => {
  if (typeof value !== 'string') return isWrittenTime(name) ? null : undefined;
  try {
    return isMicroTime(name) ? canonicalMicroTime(value) : canonicalTime(value);
  } catch (error) {
    throw error instanceof TimeError ? new DecodingError(error.message) : error;
  }
};

const quantity = (value: unknown, read: (text: string | number) => string | undefined): unknown => {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = read(value);
  if (text === undefined) throw new DecodingError(quantityFormatError);
  return text;
};

const bytes = (value: unknown): unknown => {
  if (typeof value !== 'string') return undefined;
  const result = canonicalBase64(value);
  if (typeof result === 'number') throw new DecodingError(`illegal base64 data at input byte ${result}`);
  return result;
};

const scalar = (name: string, value: unknown, field: Schema, type: Schema): unknown => {
  if (isPointer(name, type)) return value ?? copy(field.default);
  if (!isZero(value ?? undefined)) return value;
  if (field.default !== undefined && !isZero(field.default)) return field.default;
  return isWrittenZero(name, field, type) ? zeroOf(field) : undefined;
};

/** Of a list or a map: Go reads null as the zero value of its type. */
const element = (value: unknown, schema: Schema): unknown => {
  if (isQuantity(schema)) return quantity(value, canonicalResourceQuantity) ?? '0';
  if (schema.format === 'byte') return bytes(value) ?? '';
  if (schema.properties) return struct(isObject(value) ? value : {}, schema);
  if (schema.type === 'array') return list(value, schema) ?? null;
  if (schema.type === 'object' || schema.type === undefined) return value;
  return value ?? zeroOf(schema);
};

const list = (value: unknown, schema: Schema): unknown[] | undefined => {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const { items } = schema;
  return items ? value.map((item) => element(item, items)) : value;
};

const map = (value: unknown, values: Schema): Record<string, unknown> | undefined => {
  if (!isObject(value) || Object.keys(value).length === 0) return undefined;
  for (const key of Object.keys(value)) set(value, key, element(value[key], values));
  return value;
};

const canonicalField = (name: string, value: unknown, field: Schema, type: Schema): unknown => {
  if (isQuantity(field)) return quantity(value, canonicalQuantity) ?? (name === 'divisor' ? '0' : undefined);
  if (field.format === 'date-time') return time(name, value);
  if (field.format === 'byte') return bytes(value) || (type.required?.includes(name) ? null : undefined);
  if (field.type === 'array') return list(value, field) ?? (isWrittenList(name, type) ? null : undefined);
  if (field.properties) {
    const given = value ?? copy(field.default);
    return isObject(given) ? struct(given, field) : (given ?? undefined);
  }
  if (isObject(field.additionalProperties)) return map(value, field.additionalProperties);
  if (field.type === undefined || field.type === 'object') return value ?? undefined;
  return scalar(name, value, field, type);
};

const struct = (value: Record<string, unknown>, type: Schema): Record<string, unknown> => {
  for (const [name, field] of Object.entries(type.properties ?? {})) {
    const result = canonicalField(name, Object.hasOwn(value, name) ? value[name] : undefined, field, type);
    if (result === undefined) delete value[name];
    else set(value, name, result);
  }
  return value;
};

/**
 * Brings an object of a built-in kind into the form in which the real server stores and answers it, as if it had gone through
 * Go's types: nulls and what `omitempty` leaves out are gone, structs and zero values that Go always writes are there, times are
 * UTC, quantities have their one spelling. Throws the 400 of a value that Go could not decode.
 */
export const canonical = (object: KubeObject, schema: Schema): void => {
  const { apiVersion, kind } = object;
  try {
    struct(object, schema);
  } catch (error) {
    if (!(error instanceof DecodingError)) throw error;
    const version = apiVersion.split('/').at(-1) ?? '';
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`);
  }
};
