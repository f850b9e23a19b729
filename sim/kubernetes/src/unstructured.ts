import { isObject } from './object.ts';

/** Reads fields of untyped objects, any of which may be missing. */

export type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const objectsOf = (value: unknown): Fields[] => listOf(value).map(fieldsOf);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const textsOf = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(fieldsOf(value)).map(([key, text]) => [key, textOf(text)]));

export const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** The object under that key, created if missing. */
export const childOf = (parent: Fields, key: string): Fields => {
  const existing = parent[key];
  if (isObject(existing)) return existing;
  const child: Fields = {};
  parent[key] = child;
  return child;
};

/** Sets a missing field. Go also treats null and '' as missing. */
export const fill = (fields: Fields, key: string, value: unknown): void => {
  const present = fields[key];
  if (present === undefined || present === null || present === '') fields[key] = value;
};

export const nestedField = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((found, key) => (isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined), value);

export const nestedString = (value: unknown, ...path: string[]): string => {
  const found = nestedField(value, ...path);
  return typeof found === 'string' ? found : '';
};

export const nestedNumber = (value: unknown, ...path: string[]): number => {
  const found = nestedField(value, ...path);
  return typeof found === 'number' ? found : 0;
};

export const nestedMap = (value: unknown, ...path: string[]): Fields => {
  const found = nestedField(value, ...path);
  return isObject(found) ? found : {};
};

/** The objects in the list at a path. */
export const nestedMaps = (value: unknown, ...path: string[]): Fields[] => {
  const found = nestedField(value, ...path);
  return Array.isArray(found) ? found.filter(isObject) : [];
};

export const nestedStrings = (value: unknown, ...path: string[]): string[] => {
  const found = nestedField(value, ...path);
  return Array.isArray(found) ? found.filter((entry) => typeof entry === 'string') : [];
};

/** `value`, or `otherwise` if it is empty. */
export const orElse = (value: string, otherwise: string): string => (value === '' ? otherwise : value);
