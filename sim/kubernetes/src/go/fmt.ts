import { isObject } from '../object.ts';

/** Texts as Go prints them: error messages on the wire contain them. */

/** `%v` of a float64. Integers look the same in every type. */
export const goNumber = (value: number): string => {
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return BigInt(value).toString();
  const magnitude = Math.abs(value);
  const text = magnitude !== 0 && magnitude < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
};

/** `%q` of a string. */
export const goQuote = (value: string): string =>
  JSON.stringify(value).replace(/\\u00([0-9a-f]{2})|\\b|\\f/g, (escape, hex: string | undefined) =>
    hex ? (hex === '07' ? '\\a' : hex === '0b' ? '\\v' : `\\x${hex}`) : escape,
  );

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)]),
  );
};

/** `json.Marshal` of an untyped value: keys sorted, HTML escaped. */
export const goJson = (value: unknown): string =>
  JSON.stringify(sorted(value ?? null)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The value in `Invalid value: …` of field errors. */
export const goValue = (value: unknown): string => {
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number') return goNumber(value);
  if (typeof value === 'boolean') return String(value);
  return goJson(value);
};

/** Values in error texts, as the real server (written in Go) prints them. */

/** JSON as `%v` prints it: `map[a:1 b:[x y]]`, keys sorted. */
export const goFormat = (value: unknown): string => {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goFormat).join(' ')}]`;
  if (!isObject(value)) return typeof value === 'string' ? value : JSON.stringify(value);
  const fields = Object.entries(value);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${fields.map(([key, field]) => `${key}:${goFormat(field)}`).join(' ')}]`;
};

/** The name of a JSON type in encoding/json. */
export const jsonKind = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
};

/** The name of the type of decoded JSON in reflection. */
export const goType = (value: unknown): string => {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'string' ? 'string' : 'map[string]interface {}';
};

/** The name of the kind of decoded JSON in reflection. */
export const goKind = (value: unknown): string => {
  if (Array.isArray(value)) return 'slice';
  return typeof value === 'object' ? 'map' : goType(value);
};
