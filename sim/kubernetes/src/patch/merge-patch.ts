import { badRequest } from '../errors/api-error.ts';
import { jsonKind } from '../go/fmt.ts';
import { isObject, set } from '../object.ts';
import { malformedPatch } from './patch-errors.ts';

/** Removes nulls from new objects; those in arrays stay, as arrays are replaced as a whole. */
const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) if (field !== null) set(result, key, withoutNulls(field));
  return result;
};

const merged = (current: unknown, patch: unknown): unknown => {
  if (!isObject(current)) return withoutNulls(patch);
  // The real server keeps nulls in an array that replaces an object.
  return isObject(patch) ? mergedObject(current, patch) : patch;
};

const mergedObject = (current: Record<string, unknown>, patch: Record<string, unknown>): Record<string, unknown> => {
  const result: Record<string, unknown> = { ...current };
  for (const [key, field] of Object.entries(patch)) {
    if (field === null) delete result[key];
    else set(result, key, merged(Object.hasOwn(current, key) ? current[key] : undefined, field));
  }
  return result;
};

/** RFC 7386. The result shares unchanged parts with the arguments. */
export const mergePatch = (object: Record<string, unknown>, patch: unknown): Record<string, unknown> => {
  if (patch === null) throw badRequest('Invalid JSON Patch');
  if (!isObject(patch)) {
    throw malformedPatch(`json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`);
  }
  return mergedObject(object, patch);
};
