import { propertySchema, type Schema, valueSchema } from './schema.ts';

/** Field paths in `details.causes`. The empty path is the whole object. */

export const childPath = (path: string, field: string): string => (path === '' ? field : `${path}.${field}`);

export const indexPath = (path: string, index: number): string => `${path}[${index}]`;

/** An entry of a map. */
export const keyPath = (path: string, key: string): string => `${path}[${key}]`;

export const shownPath = (path: string): string => (path === '' ? '<nil>' : path);

/** Paths such as `.spec['a.b'].c` into a schema. */

const escapes: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
};

const token = /^(?:\.([^.[\]]+)|\[('(?:[^'\\]|\\.)*')\])/;

const unquoted = (text: string): string | undefined => {
  let valid = true;
  const result = text.slice(1, -1).replaceAll(/\\(.)/g, (_all, character: string) => {
    valid &&= Object.hasOwn(escapes, character);
    return escapes[character] ?? '';
  });
  return valid ? result : undefined;
};

/** The schema at a path, and the path as in error messages. */
export const followPath = (path: string, schema: Schema): { path: string; schema: Schema | undefined } | undefined => {
  let rest = path;
  let current: Schema | undefined = schema;
  let shown = '';
  while (rest !== '') {
    const match = token.exec(rest);
    const name: string | undefined = match?.[1] ?? (match?.[2] === undefined ? undefined : unquoted(match[2]));
    if (!match || name === undefined || !current) return undefined;
    const named: boolean = current.properties !== undefined;
    if (!named && current.additionalProperties === undefined) return undefined;
    if (named && !propertySchema(current, name)) return undefined;
    shown += named ? (shown === '' ? name : `.${name}`) : `[${name}]`;
    current = named ? propertySchema(current, name) : valueSchema(current);
    rest = rest.slice(match[0].length);
  }
  return { path: shown, schema: current };
};

export const fieldPathOf = (path: string, schema: Schema): string | undefined => followPath(path, schema)?.path;
