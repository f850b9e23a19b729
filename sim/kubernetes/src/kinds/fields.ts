import { isObject } from '../object.ts';

/** Reading objects of built-in kinds, whose fields nobody has promised to be there. */

export type Fields = Record<string, unknown>;

export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const objectsOf = (value: unknown): Fields[] => listOf(value).map(fieldsOf);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const textsOf = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(fieldsOf(value)).map(([key, text]) => [key, textOf(text)]));

export const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** The object under that key, put there if it is missing. */
export const childOf = (parent: Fields, key: string): Fields => {
  const existing = parent[key];
  if (isObject(existing)) return existing;
  const child: Fields = {};
  parent[key] = child;
  return child;
};

/** Only where nothing is, or what Go takes for nothing. */
export const fill = (fields: Fields, key: string, value: unknown): void => {
  const present = fields[key];
  if (present === undefined || present === null || present === '') fields[key] = value;
};
