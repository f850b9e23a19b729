import { isObject } from '../object.ts';

/** Reading from objects that nobody has typed. What is missing reads as Go's zero value, as in the real server's printers. */

export type Fields = Record<string, unknown>;

export const at = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((found, key) => (isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined), value);

export const text = (value: unknown, ...path: string[]): string => {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
};

export const count = (value: unknown, ...path: string[]): number => {
  const found = at(value, ...path);
  return typeof found === 'number' ? found : 0;
};

export const fields = (value: unknown, ...path: string[]): Fields => {
  const found = at(value, ...path);
  return isObject(found) ? found : {};
};

/** The objects in a list. */
export const list = (value: unknown, ...path: string[]): Fields[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter(isObject) : [];
};

export const texts = (value: unknown, ...path: string[]): string[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter((entry) => typeof entry === 'string') : [];
};

/** `text`, or what stands for nothing. */
export const or = (value: string, otherwise: string): string => (value === '' ? otherwise : value);
