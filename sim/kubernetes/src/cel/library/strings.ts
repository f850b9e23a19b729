import type { Environment } from '@marcbachmann/cel-js';
import { Duration } from '@marcbachmann/cel-js/evaluator';
import { compilePattern, occurs } from '../../go/regexp.ts';
import { functionRegistrar } from './register.ts';

/** `'%s has %d items'.format([…])`. */

const formatValue = (value: unknown): string => {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (Array.isArray(value) || value instanceof Set) return `[${[...value].map(formatValue).join(', ')}]`;
  if (value instanceof Map) {
    const entries = [...value].map(([key, field]) => `${formatValue(key)}: ${formatValue(field)}`);
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
      return formatValue(value);
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

const formatString = (template: string, values: Iterable<unknown>): string => {
  const given = [...values];
  let used = 0;
  return template.replaceAll(/%(?:%|(?:\.(\d{1,3}))?([a-zA-Z]))/g, (all, precision?: string, directive?: string) => {
    if (directive === undefined) return all.slice(1);
    if (used >= given.length) throw new Error(`index ${used} out of range`);
    return formatOne(given[used++], directive, Number(precision ?? 6));
  });
};

const pattern = (text: string): Exclude<ReturnType<typeof compilePattern>, Error> => {
  const compiled = compilePattern(text);
  if (compiled instanceof Error) throw compiled;
  return compiled;
};

const find = (text: string, expression: string): string => {
  const matcher = pattern(expression).matcher(text);
  return matcher.find() ? (matcher.group() ?? '') : '';
};

const findAll = (text: string, expression: string, limit: bigint): string[] => {
  const matcher = pattern(expression).matcher(text);
  const found: string[] = [];
  const most = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit);
  while (found.length < most && matcher.find()) found.push(matcher.group() ?? '');
  return found;
};

const replace = (text: string, from: string, to: string, limit: bigint): string => {
  if (limit < 0n) return text.replaceAll(from, () => to);
  let rest = text;
  let done = '';
  for (let count = 0n; count < limit; count++) {
    const index = rest.indexOf(from);
    if (index < 0) break;
    done += rest.slice(0, index) + to;
    rest = rest.slice(index + from.length);
  }
  return done + rest;
};

const charAt = (text: string, index: bigint): string => {
  const characters = Array.from(text);
  if (index < 0n || index > BigInt(characters.length)) throw new Error(`index out of range: ${index}`);
  return characters[Number(index)] ?? '';
};

/** String functions that Kubernetes adds to CEL. Patterns are RE2; `matches` is registered under another name for this. */
export const registerStrings = (environment: Environment): void => {
  const add = functionRegistrar(environment);
  add('string.re2Matches(string): bool', (text: string, expression: string) => occurs(pattern(expression), text));
  add('matches(string, string): bool', (text: string, expression: string) => occurs(pattern(expression), text));
  add('string.find(string): string', find);
  add('string.findAll(string): list<string>', (text: string, expression: string) => findAll(text, expression, -1n));
  add('string.findAll(string, int): list<string>', findAll);
  add('string.replace(string, string): string', (text: string, from: string, to: string) =>
    replace(text, from, to, -1n),
  );
  add('string.replace(string, string, int): string', replace);
  add('string.charAt(int): string', charAt);
  add('string.reverse(): string', (text: string) => Array.from(text).reverse().join(''));
  add('string.format(list): string', formatString);
};
