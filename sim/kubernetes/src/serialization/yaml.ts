import {
  Composer,
  Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  Parser,
  type Tags,
  visit,
} from 'yaml';
import { isObject, type Json, set } from '../object.ts';
import { MalformedError, maxDepth, type Parsed, parseJson } from './json.ts';

const tooDeep = (): MalformedError => new MalformedError('yaml: exceeded max depth of 10000');

// YAML 1.1 as go-yaml reads it: `yes` is a boolean, but `1:30` is not a number, and a date is a string.
const goYamlTags = (tags: Tags): Tags =>
  tags.filter(
    (tag) =>
      typeof tag === 'string' ||
      (!['omap', 'pairs', 'set', 'timestamp'].some((name) => tag.tag.endsWith(`:${name}`)) &&
        !('format' in tag && tag.format === 'TIME')),
  );

/** Token by token, so that parsing stops at once on hostile nesting and at a second document. */
function* documents(text: string, lines: LineCounter): Generator<Document> {
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer({
    version: '1.1',
    intAsBigInt: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
    customTags: goYamlTags,
  });
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) yield* composer.next(token);
    // A block level takes two entries of the stack: the collection and its item.
    if (parser.stack.length > 2 * maxDepth) throw tooDeep();
  }
  for (const token of parser.end()) yield* composer.next(token);
  yield* composer.end();
}

/** The root node of the first document, undefined if there is none, and the line positions. */
const firstDocument = (text: string): { root: unknown; lines: LineCounter } => {
  const lines = new LineCounter();
  try {
    const first = documents(text, lines).next();
    const document = first.done ? undefined : first.value;
    const error = document?.errors[0];
    if (error?.message.includes('call stack')) throw tooDeep();
    if (error) throw new MalformedError(`yaml: line ${lines.linePos(error.pos[0]).line}: ${error.message}`);
    return { root: document?.contents, lines };
  } catch (error) {
    if (error instanceof MalformedError) throw error;
    // The composer recurses. Any other error on hostile input is about the input too.
    if (error instanceof RangeError) throw tooDeep();
    throw new MalformedError(`yaml: ${error instanceof Error ? error.message : 'cannot be read'}`);
  }
};

/** The limit of go-yaml for values from aliases. */
const maxAliased = 400_000;

// oxlint-disable-next-line no-control-regex -- they are what it looks for
const controlCharacters = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** The first document of a stream, as JSON. Never returns a value that JSON cannot represent. */
export const parseYaml = (text: string): Parsed => {
  if (/^\s*\{/.test(text)) {
    const json = parseAsJson(text);
    if (json) return json;
  }
  if (controlCharacters.test(text)) throw new MalformedError('yaml: control characters are not allowed');
  const { root, lines } = firstDocument(text);

  const anchors = new Map<string, unknown>();
  const expanding = new Set<unknown>();
  const repeated: string[] = [];
  let problem: string | undefined;
  let aliased = 0;

  const keyOf = (key: unknown): string => {
    const value: unknown = isAlias(key) ? anchors.get(key.source) : key;
    if (!isScalar(value)) throw new MalformedError('yaml: invalid map key');
    if (typeof value.value === 'symbol') return '<<';
    if (value.value === null) throw new MalformedError('unsupported map key of type: %!s(<nil>), key: <nil>');
    const name = scalar(value.value);
    return typeof name === 'string' ? name : JSON.stringify(name);
  };

  const scalar = (value: unknown): Json => {
    if (value instanceof Uint8Array) return new TextDecoder().decode(value);
    if (typeof value === 'symbol') return '<<';
    if (typeof value === 'string') return value.toWellFormed();
    if (typeof value === 'boolean' || value === null || value === undefined) return value ?? null;
    if (typeof value === 'bigint') {
      const rounded = Number(value);
      if (BigInt.asIntN(64, value) === value && BigInt(rounded) !== value) {
        problem ??= `this server cannot keep the integer ${value} exactly`;
      }
      return rounded;
    }
    if (typeof value !== 'number') throw new MalformedError('yaml: unsupported value');
    if (!Number.isFinite(value)) {
      throw new MalformedError(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`);
    }
    return value === 0 ? 0 : value;
  };

  const alias = (name: string, depth: number): Json => {
    const target = anchors.get(name);
    if (target === undefined) throw new MalformedError(`yaml: unknown anchor '${name}' referenced`);
    if (expanding.has(target)) throw new MalformedError(`yaml: anchor '${name}' value contains itself`);
    expanding.add(target);
    const value = convert(target, depth);
    expanding.delete(target);
    return value;
  };

  const merged = (value: Json): Record<string, unknown>[] => {
    const parts = Array.isArray(value) ? value : [value];
    return parts.map((part) => {
      if (!isObject(part)) throw new MalformedError('yaml: map merge requires map or sequence of maps as the value');
      return part;
    });
  };

  const map = (pairs: readonly Pair[], depth: number): Json => {
    const result: Record<string, Json> = {};
    const inherited: Record<string, unknown>[] = [];
    for (const { key, value } of pairs) {
      const name = keyOf(key);
      if (isScalar(key) && key.anchor) anchors.set(key.anchor, key);
      const converted = convert(value, depth);
      if (name === '<<' && isScalar(key) && typeof key.value === 'symbol') {
        inherited.push(...merged(converted));
        continue;
      }
      if (Object.hasOwn(result, name)) {
        const at = isScalar(key) && key.range ? lines.linePos(key.range[0]).line : 0;
        repeated.push(`  line ${at}: key ${JSON.stringify(name)} already set in map`);
      }
      set(result, name, converted);
    }
    for (const part of inherited) {
      for (const [key, value] of Object.entries(part)) if (!Object.hasOwn(result, key)) set(result, key, value);
    }
    return result;
  };

  const convert = (node: unknown, depth: number): Json => {
    if (depth > maxDepth) throw new MalformedError('yaml: exceeded max depth of 10000');
    if (expanding.size > 0 && ++aliased > maxAliased) {
      throw new MalformedError('yaml: document contains excessive aliasing');
    }
    if (isAlias(node)) return alias(node.source, depth);
    if (isScalar(node) || isMap(node) || isSeq(node)) {
      if (node.anchor) anchors.set(node.anchor, node);
      if (isMap(node)) return map(node.items, depth + 1);
      if (isSeq(node)) return node.items.map((item) => convert(item, depth + 1));
      return scalar(node.value);
    }
    return null;
  };

  const value = convert(root, 0);
  return {
    value,
    duplicates: repeated.length > 0 ? [`yaml: unmarshal errors:\n${repeated.join('\n')}`] : [],
    problem,
  };
};

/** Most YAML bodies are JSON, which parses much faster as such. */
const parseAsJson = (text: string): Parsed | undefined => {
  try {
    const parsed = parseJson(text);
    return parsed.duplicates.length === 0 ? parsed : undefined;
  } catch (error) {
    if (error instanceof MalformedError && !error.message.includes('exceeded max depth')) return undefined;
    throw new MalformedError('yaml: exceeded max depth of 10000');
  }
};

/** As the real server prints YAML: keys sorted, lists not indented, strings quoted that YAML 1.1 would read as another type. */
export const printYaml = (value: unknown): string => {
  const document = new Document(value, {
    version: '1.1',
    // Without the merge tag, which the library would print for every key `<<`.
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:merge'),
    sortMapEntries: true,
    aliasDuplicateObjects: false,
  });
  // Here `<<` is an ordinary key, which needs quotes.
  visit(document, {
    Pair: (_, { key }) => {
      if (isScalar(key) && key.value === '<<') key.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ indentSeq: false, lineWidth: 80 });
};
