import type { Step } from './steps.ts';

export class JsonPathError extends Error {}

const fieldEnd = /[\s.,[\]$@{}]/;
const operation = /^([^!<>=]+)([!<>=]+)(.+)$/s;
const slicePattern = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/;
const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r' };

const number = (text: string): number | undefined => (text === '' ? undefined : Number(text));

const slice = (text: string): Step => {
  const parts = slicePattern.exec(text === '*' ? ':' : text);
  if (parts === null) throw new JsonPathError(`invalid array index ${text}`);
  const [, from = '', to, by] = parts;
  const start = number(from) ?? 0;
  return {
    kind: 'slice',
    from: start,
    to: to === undefined ? start + 1 : number(to.slice(1)),
    by: number(by?.slice(1) ?? '') ?? 1,
    single: to === undefined,
  };
};

/** Reads one path, and the paths within its brackets by reading them anew. */
export const parsePath = (input: string): Step[] => {
  const steps: Step[] = [];
  let position = 0;

  const quoted = (quote: string): string => {
    let value = '';
    for (position += 1; input[position] !== quote; position += 1) {
      if (position >= input.length) throw new JsonPathError('unterminated quoted string');
      if (input[position] === '\\') {
        position += 1;
        const escaped = input[position] ?? '';
        value += escapes[escaped] ?? escaped;
      } else {
        value += input[position];
      }
    }
    position += 1;
    return value;
  };

  const field = (): void => {
    let name = '';
    while (position < input.length && !fieldEnd.test(input[position] ?? '')) {
      if (input[position] === '\\') position += 1;
      name += input[position] ?? '';
      position += 1;
    }
    steps.push(name === '*' ? { kind: 'wildcard' } : { kind: 'field', name });
  };

  const array = (): void => {
    const end = input.indexOf(']', position);
    if (end < 0) throw new JsonPathError('unterminated array');
    const text = input.slice(position + 1, end);
    position = end + 1;
    const parts = text.split(',');
    const key = /^'([^']*)'$/.exec(text)?.[1];
    if (parts.length > 1) steps.push({ kind: 'union', paths: parts.map((part) => parsePath(`[${part.trim()}]`)) });
    else if (key === undefined) steps.push(slice(text));
    else steps.push(...parsePath(`.${key}`));
  };

  /** Up to the parenthesis that stands outside of the one quoted string that a filter may contain. */
  const filter = (): void => {
    const start = position + '[?('.length;
    let quote = '';
    let end = start;
    for (; input[end] !== ')' || quote !== ''; end += 1) {
      const character = input[end];
      if (character === undefined) throw new JsonPathError('unterminated filter');
      if (character === '\\' && quote !== '') end += 1;
      else if (character === quote) quote = '';
      else if (quote === '' && (character === '"' || character === "'")) quote = character;
    }
    if (input[end + 1] !== ']') throw new JsonPathError('unclosed array expect ]');
    position = end + 2;
    const [, left, operator, right] = operation.exec(input.slice(start, end)) ?? [];
    if (left === undefined || operator === undefined || right === undefined) {
      steps.push({ kind: 'filter', left: parsePath(input.slice(start, end)), operator: 'exists', right: [] });
    } else {
      steps.push({ kind: 'filter', left: parsePath(left), operator, right: parsePath(right) });
    }
  };

  const literal = (): void => {
    const found = /[+-]?[\d.]+|[\p{L}_][\p{L}\p{N}_]*/uy;
    found.lastIndex = position;
    const text = found.exec(input)?.[0];
    if (text === undefined)
      throw new JsonPathError(`unrecognized character in action: ${JSON.stringify(input[position])}`);
    position += text.length;
    if (text === 'true' || text === 'false') steps.push({ kind: 'literal', value: text === 'true' });
    else if (!Number.isNaN(Number(text))) steps.push({ kind: 'literal', value: Number(text) });
    else if (/^[+-]?[\d.]/.test(text)) throw new JsonPathError(`cannot parse number ${text}`);
    else steps.push({ kind: 'word' });
  };

  const descend = (): void => {
    if (steps.at(-1)?.kind === 'descend') throw new JsonPathError('invalid multiple recursive descent');
    steps.push({ kind: 'descend' });
    position += 2;
    if (/[\p{L}\p{N}_]/u.test(input[position] ?? '')) field();
  };

  while (position < input.length) {
    const character = input[position] ?? '';
    if (input.startsWith('[?(', position)) filter();
    else if (input.startsWith('..', position)) descend();
    else if (character === '[') array();
    else if (character === '"' || character === "'") steps.push({ kind: 'literal', value: quoted(character) });
    else if (character === '.') {
      position += 1;
      field();
    } else if (character === ' ' || character === '@' || character === '$') position += 1;
    else literal();
  }
  return steps;
};
