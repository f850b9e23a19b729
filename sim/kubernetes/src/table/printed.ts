import { isObject } from '../object.ts';

/** Go escapes what could end a script in HTML, and sorts keys. */
const json = (value: unknown): string => {
  const sorted = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(sorted);
    if (!isObject(part)) return part;
    return Object.fromEntries(
      Object.keys(part)
        .sort()
        .map((key) => [key, sorted(part[key])]),
    );
  };
  return JSON.stringify(sorted(value)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
};

/** Go prints fractions with an exponent when they are small, or have seven digits before the point. */
const number = (value: number): string => {
  if (Number.isInteger(value)) return String(value);
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent >= -4 && exponent < 6) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
};

/** A value in a column of type string. */
export const printed = (value: unknown): string => {
  if (value === null || value === undefined) return '<no value>';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return number(value);
  return json(value);
};
