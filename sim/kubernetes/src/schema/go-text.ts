import { isObject } from '../object.ts';

/** Texts as Go prints them, since they stand in error messages on the wire. */

/** `%v` of a float64. Integers look the same, however they are typed. */
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

/** `json.Marshal` of a value that was decoded without a type: keys sorted, HTML escaped. */
export const goJson = (value: unknown): string =>
  JSON.stringify(sorted(value ?? null)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The value in `Invalid value: …`, as field errors print it. */
export const goValue = (value: unknown): string => {
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number') return goNumber(value);
  if (typeof value === 'boolean') return String(value);
  return goJson(value);
};
