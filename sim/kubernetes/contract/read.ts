import { isObject } from '../src/object.ts';

/** The value at a path of keys and indexes (`status.conditions.0.type`), or `undefined` when a part of the path is missing. */
export const read = (value: unknown, path: string): unknown => {
  let current = value;
  for (const key of path.split('.')) current = readKey(current, key);
  return current;
};

/** The value of a key that may contain dots, as labels do. */
export const readKey = (value: unknown, key: string): unknown => {
  if (Array.isArray(value)) return value[Number(key)];
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
};

/** The list at a path; empty if absent. */
export const readList = (value: unknown, path: string): unknown[] => {
  const found = read(value, path);
  return Array.isArray(found) ? found : [];
};

/** The text at a path; empty if absent. */
export const readText = (value: unknown, path: string): string => {
  const found = read(value, path);
  return typeof found === 'string' ? found : '';
};

export const namesOf = (list: unknown): string[] =>
  readList(list, 'items').map((item) => readText(item, 'metadata.name'));
