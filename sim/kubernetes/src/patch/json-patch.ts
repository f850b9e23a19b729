import { tooLarge } from '../errors/api-error.ts';
import { jsonKind } from '../go/fmt.ts';
import { copy, equal, isObject, set } from '../object.ts';
import { invalidPatch, malformedPatch } from './patch-errors.ts';

const longest = 10_000;
/** Copies of copies grow exponentially: without a limit, a short patch could fill the memory. The real server has the same limit. */
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

/** Negative indices count from the end: not in RFC 6902, but in the real server. */
const indexIn = (length: number, key: string): number => {
  if (!/^[+-]?\d+$/.test(key)) throw invalidPatch();
  const index = Number(key);
  const position = index < 0 ? index + length : index;
  if (position < 0 || position >= length) throw invalidPatch();
  return position;
};

/** A missing value is null: `test` for null succeeds, and `copy` copies null. */
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

/** In an object, `replace` of a missing key adds it. */
const replace = (container: Container, key: string, value: unknown): void => {
  if (Array.isArray(container)) container[indexIn(container.length, key)] = value;
  else set(container, key, value);
};

interface Place {
  container: Container;
  key: string;
}

/** Resolves a pointer: its last step may be missing, all others must exist. */
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

/** Applies the operations in order. Most change the document in place; `replace` of the root returns a new one. */
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
 * RFC 6902 with the deviations of the real server. Changes neither argument. fast-json-patch does not fit: it refuses what the real server
 * allows, such as a missing key in `replace`, negative indices, `test` of a missing value, the key `__proto__`.
 */
export const jsonPatch = (object: Record<string, unknown>, patch: unknown): unknown =>
  patched(copy(object), operationsOf(patch));
