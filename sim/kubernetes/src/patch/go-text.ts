import { isObject } from '../object.ts';

/** How the real server, which is written in Go, prints what it stumbles over. */

/** JSON as `%v` prints it: `map[a:1 b:[x y]]`, keys sorted. */
export const goValue = (value: unknown): string => {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`;
  if (!isObject(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  const fields = Object.entries(value);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${fields.map(([key, field]) => `${key}:${goValue(field)}`).join(' ')}]`;
};

/** As encoding/json names what it found. */
export const jsonKind = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
};

/** As reflection names the type of decoded JSON. */
export const goType = (value: unknown): string => {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'string' ? 'string' : 'map[string]interface {}';
};

/** As reflection names the kind of decoded JSON. */
export const goKind = (value: unknown): string => {
  if (Array.isArray(value)) return 'slice';
  return typeof value === 'object' ? 'map' : goType(value);
};
