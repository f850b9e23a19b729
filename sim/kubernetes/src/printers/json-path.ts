import { isObject } from '../object.ts';

/** One step of a path: maps the values found so far to the next ones. */
type Step =
  | { kind: 'field'; name: string }
  | { kind: 'wildcard' }
  | { kind: 'descend' }
  /** Like `list[from:to:by]`; `[n]` is `[n:n+1]`, and an absent `to` is the end. */
  | { kind: 'slice'; from: number; to: number | undefined; by: number; single: boolean }
  | { kind: 'union'; paths: readonly Step[][] }
  | { kind: 'literal'; value: string | number | boolean }
  /** An unknown word. Parses, and finds nothing. */
  | { kind: 'word' }
  /** Without an operator: matches if the left side exists. */
  | { kind: 'filter'; left: readonly Step[]; operator: string; right: readonly Step[] };

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

/** Parses one path; paths in brackets are parsed recursively. */
const parsePath = (input: string): Step[] => {
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

  /** Up to the closing parenthesis outside the one quoted string that a filter may contain. */
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

/** A step does not fit the type of the value: the whole path yields nothing. */
class TypeMismatch extends Error {}

const children = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
};

const descendants = (value: unknown): unknown[] => {
  const below = children(value);
  return below.length === 0 ? [] : [value, ...below.flatMap(descendants)];
};

const sliced = (value: unknown, step: Step & { kind: 'slice' }): unknown[] => {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new TypeMismatch();
  const { length } = value;
  const from = step.from < 0 ? step.from + length : step.from;
  const given = step.to ?? length;
  // `[-1]` ends at 0, which means the end of the list.
  const to = given < 0 || (given === 0 && step.single) ? given + length : given;
  if (from === to) return [];
  if (from < 0 || from >= length || to < 0 || to > length || from > to || step.by <= 0) throw new TypeMismatch();
  return value.slice(from, to).filter((_, index) => index % step.by === 0);
};

type Scalar = string | number | boolean;
const isScalar = (value: unknown): value is Scalar => ['string', 'number', 'boolean'].includes(typeof value);

const compare = (left: unknown, operator: string, right: unknown): boolean => {
  if (!isScalar(left) || !isScalar(right) || typeof left !== typeof right) throw new TypeMismatch();
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  if (typeof left === 'boolean') throw new TypeMismatch();
  if (operator === '<') return left < right;
  if (operator === '<=') return left <= right;
  if (operator === '>') return left > right;
  if (operator === '>=') return left >= right;
  throw new TypeMismatch();
};

const exists = (steps: readonly Step[], element: unknown): boolean => {
  try {
    return walk(steps, [element]).length > 0;
  } catch (error) {
    // The real server counts what it had found before the error, which is at least the element.
    if (error instanceof TypeMismatch) return true;
    throw error;
  }
};

const passes = (step: Step & { kind: 'filter' }, element: unknown): boolean => {
  if (step.operator === 'exists') return exists(step.left, element);
  const left = walk(step.left, [element]);
  if (left.length === 0) return false;
  const right = walk(step.right, [element]);
  if (left.length > 1 || right.length > 1) throw new TypeMismatch();
  return right.length > 0 && compare(left[0], step.operator, right[0]);
};

const take = (step: Step, value: unknown): unknown[] => {
  if (step.kind === 'field') return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
  if (step.kind === 'wildcard') return children(value);
  if (step.kind === 'descend') return descendants(value);
  if (step.kind === 'slice') return sliced(value, step);
  if (step.kind === 'union') return step.paths.flatMap((path) => walk(path, [value]));
  if (step.kind === 'literal') return [step.value];
  if (step.kind === 'word' || !Array.isArray(value)) throw new TypeMismatch();
  return value.filter((element) => passes(step, element));
};

const walk = (steps: readonly Step[], values: readonly unknown[]): unknown[] =>
  steps.reduce<unknown[]>((found, step) => found.flatMap((value) => take(step, value)), [...values]);

const evaluate = (steps: readonly Step[], object: unknown): unknown[] => {
  try {
    return walk(steps, [object]);
  } catch (error) {
    if (error instanceof TypeMismatch) return [];
    throw error;
  }
};

/**
 * The JSONPath of printer columns: `.spec.x`, `.metadata.labels['a\.b']`, `.list[0]`, `.list[*].x`,
 * `.status.conditions[?(@.type=="Ready")].status`. Throws JsonPathError for an invalid path. Missing and incomparable values yield nothing.
 */
export const jsonPath = (expression: string): ((object: unknown) => unknown[]) => {
  const steps = parsePath(expression);
  return (object) => evaluate(steps, object);
};
