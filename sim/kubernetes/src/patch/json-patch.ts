import { tooLarge } from '../errors/api-error.ts';
import { jsonKind } from '../go/fmt.ts';
import { copy, equal, isObject, set } from '../object.ts';
import { invalidPatch, malformedPatch } from './patch-errors.ts';

const longest = 10_000;
/** Copies of copies double: without a bound, a short patch could fill the memory. The real server has the same one. */
const mostCopied = 3 * 1024 * 1024;

interface Operation {
  op?: string;
  path?: string;
  from?: string;
  value?: unknown;
}

type Container = Record<string, unknown> | unknown[];

const text = (operation: Record<string, unknown>, field: 'op' | 'path' | 'from'): { [key: string]: string } => {
  const value = operation[field] ?? null;
  if (value === null) return {};
  if (typeof value === 'string') return { [field]: value };
  throw malformedPatch(
    `json: cannot unmarshal ${jsonKind(value)} into Go struct field jsonPatchOp.${field} of type string`,
  );
};

const operationsOf = (patch: unknown): Operation[] => {
  if (patch === null) return [];
  if (!Array.isArray(patch)) {
    throw malformedPatch(`json: cannot unmarshal ${jsonKind(patch)} into Go value of type []handlers.jsonPatchOp`);
  }
  const operations = patch.map((entry: unknown): Operation => {
    if (entry === null) return {};
    if (!isObject(entry)) {
      throw malformedPatch(`json: cannot unmarshal ${jsonKind(entry)} into Go value of type handlers.jsonPatchOp`);
    }
    return { ...text(entry, 'op'), ...text(entry, 'path'), ...text(entry, 'from'), value: entry['value'] };
  });
  if (operations.length > longest) {
    throw tooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${longest}, got ${operations.length}`,
    );
  }
  return operations;
};

const unescape = (part: string): string => part.replace(/~[01]/g, (escape) => (escape === '~1' ? '/' : '~'));

/** Negative indices count from the end, which RFC 6902 does not know but the real server does. */
const indexIn = (length: number, key: string): number => {
  if (!/^[+-]?\d+$/.test(key)) throw invalidPatch();
  const index = Number(key);
  const position = index < 0 ? index + length : index;
  if (position < 0 || position >= length) throw invalidPatch();
  return position;
};

/** What is not there is null: `test` for null succeeds on it, and `copy` copies null. */
const get = (container: Container, key: string): unknown => {
  if (Array.isArray(container)) return container[indexIn(container.length, key)];
  return Object.hasOwn(container, key) ? container[key] : null;
};

const add = (container: Container, key: string, value: unknown): void => {
  if (!Array.isArray(container)) set(container, key, value);
  else if (key === '-') container.push(value);
  else container.splice(indexIn(container.length + 1, key), 0, value);
};

const remove = (container: Container, key: string): void => {
  if (Array.isArray(container)) container.splice(indexIn(container.length, key), 1);
  else if (Object.hasOwn(container, key)) delete container[key];
  else throw invalidPatch();
};

/** In an object, `replace` of what is not there adds it. */
const replace = (container: Container, key: string, value: unknown): void => {
  if (Array.isArray(container)) container[indexIn(container.length, key)] = value;
  else set(container, key, value);
};

interface Place {
  container: Container;
  key: string;
}

/** Where a pointer leads: its last step may not exist yet, all others have to. */
const locate = (root: Container, pointer: string | undefined): Place => {
  const steps = (pointer ?? '').split('/').slice(1).map(unescape);
  const key = steps.pop();
  if (key === undefined) throw invalidPatch();
  let container = root;
  for (const step of steps) {
    const next = get(container, step);
    if (!isObject(next) && !Array.isArray(next)) throw invalidPatch();
    container = next;
  }
  return { container, key };
};

/** Applies one operation after the other. Some change the document in place, `replace` of the root changes the document. */
const patched = (document: Container, operations: readonly Operation[]): Container => {
  let root = document;
  let copied = 0;
  const duplicate = (value: unknown): unknown => {
    copied += JSON.stringify(value).length;
    if (copied > mostCopied) throw invalidPatch();
    return copy(value);
  };
  for (const { op, path, from, value: given } of operations) {
    const value = copy(given ?? null);
    if (path === '' && op === 'replace') {
      if (!isObject(value) && !Array.isArray(value)) throw invalidPatch();
      root = value;
    } else if (path === '' && op === 'test') {
      if (!equal(root, value)) throw invalidPatch();
    } else if (op === 'move' || op === 'copy') {
      const source = locate(root, from);
      const found = get(source.container, source.key);
      if (op === 'move') remove(source.container, source.key);
      const target = locate(root, path);
      add(target.container, target.key, op === 'copy' ? duplicate(found) : found);
    } else {
      const { container, key } = locate(root, path);
      if (op === 'add') add(container, key, value);
      else if (op === 'remove') remove(container, key);
      else if (op === 'replace') replace(container, key, value);
      else if (op !== 'test' || !equal(get(container, key) ?? null, value)) throw invalidPatch();
    }
  }
  return root;
};

/**
 * RFC 6902 with the liberties of the real server. Changes neither argument. fast-json-patch is not used because it refuses
 * what the real server allows: a missing key in `replace`, negative indices, `test` of absence, the key `__proto__`.
 */
export const jsonPatch = (object: Record<string, unknown>, patch: unknown): unknown =>
  patched(copy(object), operationsOf(patch));
