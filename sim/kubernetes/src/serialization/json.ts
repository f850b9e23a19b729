import { type Json, set } from '../object.ts';

export interface Parsed {
  value: Json;
  /** Strict decoding errors about duplicate keys, one text per path: `duplicate field "spec.x"`. The last value counts. */
  duplicates: string[];
  /** Why a number of this document cannot be represented; undefined if all can. */
  problem: string | undefined;
}

/** Invalid JSON or YAML. The message is that of Go's parser. */
export class MalformedError extends Error {}

/**
 * Go's parser allows 10,000 levels. The rest of this server walks values recursively, and the stack is too small for that; no kind of
 * Kubernetes nests 100 levels deep.
 */
export const maxDepth = 1000;

/** A byte as Go quotes it in an error. */
const quoted = (character: string): string => {
  if (character === "'") return `'\\''`;
  if (character === '"') return `'"'`;
  const byte = new TextEncoder().encode(character)[0] ?? 0;
  if (byte === 0x0a) return `'\\n'`;
  if (byte === 0x0d) return `'\\r'`;
  if (byte === 0x09) return `'\\t'`;
  if (byte === 0x5c) return `'\\\\'`;
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, '0')}'`;
  if (byte >= 0x80 && byte < 0xa0) return `'\\u00${byte.toString(16)}'`;
  return `'${String.fromCharCode(byte)}'`;
};

const simpleEscapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

const whitespace = /[ \t\n\r]*/y;
// oxlint-disable-next-line no-control-regex -- JSON forbids them in a string
const plainCharacters = /[^"\\\u0000-\u001f]*/y;
const digits = /[0-9]*/y;

/** Integers that fit into Go's int64 and that a double would round. */
const isRounded = (text: string, value: number): boolean => {
  if (Number.isSafeInteger(value) || /[.eE]/.test(text)) return false;
  const exact = BigInt(text);
  return BigInt.asIntN(64, exact) === exact && BigInt(value) !== exact;
};

/**
 * Like JSON.parse, but also reports duplicate keys, errors in Go's words, excessive depth, and numbers that would be rounded. Unpaired
 * surrogates become U+FFFD, as in Go.
 */
export const parseJson = (text: string): Parsed => {
  let position = 0;
  const duplicates = new Set<string>();
  let problem: string | undefined;

  const take = (pattern: RegExp): string => {
    pattern.lastIndex = position;
    const match = pattern.exec(text)?.[0] ?? '';
    position += match.length;
    return match;
  };

  const fail = (context: string): never => {
    const code = text.codePointAt(position);
    if (code === undefined) throw new MalformedError('unexpected end of JSON input');
    throw new MalformedError(`invalid character ${quoted(String.fromCodePoint(code))} ${context}`);
  };

  const literal = (word: string, value: Json): Json => {
    for (const letter of word) {
      if (text[position] !== letter) fail(`in literal ${word} (expecting ${quoted(letter)})`);
      position++;
    }
    return value;
  };

  const number = (): number => {
    const start = position;
    if (text[position] === '-') position++;
    if (text[position] === '0') position++;
    else if (take(digits) === '') fail('in numeric literal');
    if (text[position] === '.') {
      position++;
      if (take(digits) === '') fail('after decimal point in numeric literal');
    }
    if (text[position] === 'e' || text[position] === 'E') {
      position++;
      if (text[position] === '+' || text[position] === '-') position++;
      if (take(digits) === '') fail('in exponent of numeric literal');
    }
    const written = text.slice(start, position);
    const value = Number(written);
    if (!Number.isFinite(value)) problem ??= `json: cannot unmarshal number ${written} into Go value of type float64`;
    else if (isRounded(written, value)) problem ??= `this server cannot keep the integer ${written} exactly`;
    return value === 0 ? 0 : value;
  };

  const escape = (): string => {
    const letter = text[position] ?? '';
    const simple = simpleEscapes[letter];
    if (letter !== '' && simple !== undefined) {
      position++;
      return simple;
    }
    if (letter !== 'u') return fail('in string escape code');
    position++;
    const start = position;
    while (position < start + 4) {
      if (!/[0-9a-fA-F]/.test(text[position] ?? '')) fail('in \\u hexadecimal character escape');
      position++;
    }
    return String.fromCharCode(Number.parseInt(text.slice(start, position), 16));
  };

  const string = (): string => {
    position++;
    let result = take(plainCharacters);
    while (text[position] !== '"') {
      if (text[position] !== '\\') fail('in string literal');
      position++;
      result += escape() + take(plainCharacters);
    }
    position++;
    return result.toWellFormed();
  };

  const array = (path: string, depth: number): Json[] => {
    const result: Json[] = [];
    position++;
    take(whitespace);
    if (text[position] === ']') {
      position++;
      return result;
    }
    for (;;) {
      result.push(value(`${path}[${result.length}]`, depth));
      take(whitespace);
      const next = text[position];
      if (next !== ',' && next !== ']') fail('after array element');
      position++;
      if (next === ']') return result;
    }
  };

  const object = (path: string, depth: number): Json => {
    const result: Record<string, Json> = {};
    position++;
    take(whitespace);
    if (text[position] === '}') {
      position++;
      return result;
    }
    for (;;) {
      take(whitespace);
      if (text[position] !== '"') fail('looking for beginning of object key string');
      const key = string();
      const inner = path === '' ? key : `${path}.${key}`;
      take(whitespace);
      if (text[position] !== ':') fail('after object key');
      position++;
      if (Object.hasOwn(result, key)) duplicates.add(`duplicate field ${JSON.stringify(inner)}`);
      set(result, key, value(inner, depth));
      take(whitespace);
      const next = text[position];
      if (next !== ',' && next !== '}') fail('after object key:value pair');
      position++;
      if (next === '}') return result;
    }
  };

  const value = (path: string, depth: number): Json => {
    take(whitespace);
    const first = text[position] ?? '';
    if (first === '{' || first === '[') {
      if (depth >= maxDepth) fail('exceeded max depth');
      return first === '{' ? object(path, depth + 1) : array(path, depth + 1);
    }
    if (first === '"') return string();
    if (first === 't') return literal('true', true);
    if (first === 'f') return literal('false', false);
    if (first === 'n') return literal('null', null);
    if (first === '-' || (first >= '0' && first <= '9')) return number();
    return fail('looking for beginning of value');
  };

  const result = value('', 0);
  take(whitespace);
  if (position < text.length) fail('after top-level value');
  return { value: result, duplicates: [...duplicates], problem };
};
