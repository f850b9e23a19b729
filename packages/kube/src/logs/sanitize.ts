import { redacted, type Redactor } from './redaction.ts';

/** Plain JSON: serialising it has no side effects. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

export interface SanitizeOptions {
  redactor: Redactor;
  /** Include error stacks. */
  stacks: boolean;
}

/** Longer or deeper values are truncated, visibly. */
const limits = { depth: 6, members: 64, text: 8192, nodes: 1000, total: 65_536 };

/**
 * Any logged value as JSON of bounded size without secrets. Never throws: a getter or `toJSON` that throws becomes
 * `[unreadable]`, a cycle `[circular]`.
 */
export const sanitizeValue = (value: unknown, options: SanitizeOptions): JsonValue =>
  createWalk(options).visit(value, []);

export const sanitizeText = (text: string, redactor: Redactor): string => {
  if (text.length <= limits.text) return redactor.text(text);
  // The cut could split a secret, which then would not be recognised: redact a text longer by the longest secret, then cut.
  const head = redactor.text(text.slice(0, limits.text + redactor.longest));
  return `${head.slice(0, Math.min(limits.text, head.length - redactor.longest))}… (${text.length} characters)`;
};

const createWalk = ({ redactor, stacks }: SanitizeOptions) => {
  let nodes = 0;
  let room = limits.total;
  const fit = (text: string): string => {
    if (room <= 0) return '[too much]';
    const clean = sanitizeText(text, redactor);
    room -= clean.length;
    return clean;
  };

  const visit = (value: unknown, above: readonly object[]): JsonValue => {
    nodes += 1;
    if (nodes > limits.nodes) return '[too much]';
    switch (typeof value) {
      case 'string':
        return fit(value);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'boolean':
        return value;
      case 'bigint':
        return String(value);
      case 'undefined':
        return null;
      case 'symbol':
      case 'function':
        return `[${typeof value}]`;
      case 'object':
        return value === null ? null : visitObject(value, above);
    }
  };

  const visitObject = (value: object, above: readonly object[]): JsonValue => {
    try {
      if (above.includes(value)) return '[circular]';
      if (above.length >= limits.depth) return Array.isArray(value) ? '[list]' : '[map]';
      const path = [...above, value];
      if (value instanceof Error) return visitError(value, path);
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
      if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
      if (value instanceof Map)
        return visitMembers(
          [...value].map(([key, member]) => [String(key), member]),
          path,
        );
      if (value instanceof Set) return visitList([...value], path);
      if (Array.isArray(value)) return visitList(value, path);
      if ('toJSON' in value && typeof value.toJSON === 'function') {
        const shown: unknown = value.toJSON();
        if (shown !== value) return visit(shown, path);
      }
      return visitMembers(membersOf(value), path);
    } catch {
      return '[unreadable]';
    }
  };

  const visitList = (list: readonly unknown[], path: readonly object[]): JsonValue => {
    const shown = list.slice(0, limits.members).map((item) => visit(item, path));
    return list.length > limits.members ? [...shown, `… ${list.length - limits.members} more`] : shown;
  };

  const visitMembers = (members: readonly [string, unknown][], path: readonly object[]): JsonValue => {
    const shown = members
      .filter(([, member]) => member !== undefined)
      .slice(0, limits.members)
      .map(([key, member]): [string, JsonValue] => [fit(key), hides(key, member) ? redacted : visit(member, path)]);
    if (members.length > limits.members) shown.push(['…', `${members.length - limits.members} more`]);
    return Object.fromEntries(shown);
  };

  const hides = (key: string, member: unknown): boolean =>
    member !== null && typeof member !== 'boolean' && redactor.isSecretName(key, member);

  /** Only known members: library errors include requests with their headers. */
  const visitError = (error: Error, path: readonly object[]): JsonValue => {
    const details = ['reason', 'code', 'cause', 'causes', 'errors'].map((name): [string, unknown] => [
      name,
      Reflect.get(error, name),
    ]);
    return visitMembers(
      [
        ['message', error.message],
        ['name', error.name === 'Error' ? undefined : error.name],
        ...details.filter(([, member]) => !Array.isArray(member) || member.length > 0),
        ['stack', stacks ? error.stack : undefined],
      ],
      path,
    );
  };

  return { visit };
};

/** A getter that throws affects only its own member. */
const membersOf = (value: object): [string, unknown][] =>
  Object.keys(value).map((key) => {
    try {
      return [key, Reflect.get(value, key)];
    } catch {
      return [key, '[unreadable]'];
    }
  });
