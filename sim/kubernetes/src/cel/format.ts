import { Duration } from '@marcbachmann/cel-js/evaluator';

/** `'%s has %d items'.format([…])`. */

const shown = (value: unknown): string => {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (Array.isArray(value) || value instanceof Set) return `[${[...value].map(shown).join(', ')}]`;
  if (value instanceof Map) {
    const entries = [...value].map(([key, field]) => `${shown(key)}: ${shown(field)}`);
    return `{${entries.sort().join(', ')}}`;
  }
  if (value instanceof Duration) return value.toString();
  return typeof value === 'string' ? value : typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
};

const number = (value: unknown, directive: string): number | bigint => {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  throw new Error(`error during formatting: ${directive} clause can only be used on numbers`);
};

const radix = (value: unknown, base: number, directive: string): string => {
  if (typeof value === 'boolean' && base === 2) return value ? '1' : '0';
  if (typeof value === 'string' && base === 16) return Buffer.from(value).toString('hex');
  return number(value, directive).toString(base);
};

const formatOne = (value: unknown, directive: string, precision: number): string => {
  switch (directive) {
    case 's':
      return shown(value);
    case 'd':
      return number(value, directive).toString();
    case 'f':
      return Number(number(value, directive)).toFixed(precision);
    case 'e':
      return Number(number(value, directive))
        .toExponential(precision)
        .replace(/e([+-])(\d)$/, 'e$10$2');
    case 'b':
      return radix(value, 2, directive);
    case 'o':
      return radix(value, 8, directive);
    case 'x':
      return radix(value, 16, directive);
    case 'X':
      return radix(value, 16, directive).toUpperCase();
    default:
      throw new Error(`error during formatting: unrecognized formatting clause "${directive}"`);
  }
};

export const formatString = (template: string, values: Iterable<unknown>): string => {
  const given = [...values];
  let used = 0;
  return template.replaceAll(/%(?:%|(?:\.(\d{1,3}))?([a-zA-Z]))/g, (all, precision?: string, directive?: string) => {
    if (directive === undefined) return all.slice(1);
    if (used >= given.length) throw new Error(`index ${used} out of range`);
    return formatOne(given[used++], directive, Number(precision ?? 6));
  });
};
