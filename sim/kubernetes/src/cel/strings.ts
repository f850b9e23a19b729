import type { Environment } from '@marcbachmann/cel-js';
import { adding } from './adding.ts';
import { compilePattern, occurs } from '../schema/pattern.ts';
import { formatString } from './format.ts';

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

/** String functions beyond those of the language. Patterns are RE2, for which `matches` goes by another name. */
export const registerStrings = (environment: Environment): void => {
  const add = adding(environment);
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
