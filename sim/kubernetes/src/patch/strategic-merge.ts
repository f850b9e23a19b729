import { badRequest } from '../errors/api-error.ts';
import { goFormat, goType, jsonKind } from '../go/fmt.ts';
import { isObject, set } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { unexpectedPatch } from './patch-errors.ts';
import {
  asValue,
  deletePrefix,
  directedField,
  elementsAreObjects,
  identityBy,
  inOrder,
  listRule,
  mergeLists,
  missingKey,
  objectRule,
  orderPrefix,
  patchDirective,
  retainDirective,
} from './strategic-merge-lists.ts';

type Fields = Record<string, unknown>;

const own = (fields: Fields, key: string): unknown => (Object.hasOwn(fields, key) ? fields[key] : undefined);

const listOf = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value;
  throw unexpectedPatch(`expected a []interface {}, but received a ${goType(value)}`);
};

/** The original without the keys that `$retainKeys` does not list. The patch may only set listed keys. */
const retained = (original: Fields, patch: Fields): Fields => {
  const directive = own(patch, retainDirective);
  if (directive === undefined) return original;
  if (!Array.isArray(directive)) throw badRequest('invalid patch format of retainKeys');
  const isDirective = (key: string): boolean =>
    key === retainDirective || key.startsWith(deletePrefix) || key.startsWith(orderPrefix);
  const strays = Object.keys(patch).some((key) => patch[key] !== null && !isDirective(key) && !directive.includes(key));
  if (strays) throw badRequest('invalid patch format of retainKeys');
  return Object.fromEntries(Object.entries(original).filter(([key]) => directive.includes(key)));
};

const checkKeyed = (element: unknown, mergeKey: string): void => {
  if (!isObject(element))
    throw unexpectedPatch(`expected a map[string]interface {}, but received a ${goType(element)}`);
  if (!Object.hasOwn(element, mergeKey)) throw missingKey(element, mergeKey);
};

/** The patch must contain its elements in the order of `$setElementOrder`, and no others. */
const checkOrder = (patch: readonly unknown[], order: readonly unknown[], mergeKey: string): void => {
  if (order.length === 0) return;
  const identity = identityBy(mergeKey);
  const directive = (element: unknown): unknown => (isObject(element) ? own(element, patchDirective) : undefined);
  const named = patch.filter((element) => directive(element) !== 'delete');
  let position = 0;
  const skipDirectives = (): void => {
    while (directive(named[position]) !== undefined) position += 1;
  };
  for (const element of order) {
    skipDirectives();
    if (position >= named.length) return;
    const next = named[position];
    if (mergeKey !== '') checkKeyed(next, mergeKey);
    if (mergeKey !== '') checkKeyed(element, mergeKey);
    if (identity(next) === identity(element)) position += 1;
  }
  if (position < named.length) {
    throw unexpectedPatch(
      `The order in patch list:\n${goFormat(patch)}\n doesn't match ${orderPrefix} list:\n${goFormat(order)}\n`,
    );
  }
};

const checkKeys = (order: readonly unknown[], mergeKey: string): void => {
  for (const [index, element] of order.entries()) {
    if (!isObject(element)) throw unexpectedPatch(`value for key ${index} is not a map`);
    if (!Object.hasOwn(element, mergeKey)) throw missingKey(element, mergeKey);
  }
};

/** The list `name` after its patch and its `$setElementOrder`; undefined if there is neither. */
const ordered = (
  original: Fields,
  patch: Fields,
  name: string,
  wanted: unknown,
  schema: Schema | undefined,
): unknown[] | undefined => {
  const order = listOf(wanted);
  const before = Object.hasOwn(original, name) ? listOf(original[name]) : undefined;
  const changes = Object.hasOwn(patch, name) ? listOf(patch[name]) : undefined;
  const rule = listRule(schema, name);
  if (rule === undefined)
    throw unexpectedPatch(`unable to find api field in struct for the json field ${JSON.stringify(name)}`);
  checkOrder(changes ?? [], order, rule.mergeKey);
  if (before === undefined && changes === undefined) return undefined;
  const merged =
    before === undefined || changes === undefined
      ? (before ?? listOf(asValue(changes)))
      : mergeLists(before, changes, rule, false, (a, b) => mergeObjects(a, b, rule.schema));
  if (elementsAreObjects(before ?? [], changes ?? [])) {
    if (rule.mergeKey === '') throw unexpectedPatch('cannot merge lists without merge key for struct');
    checkKeys(order, rule.mergeKey);
    checkKeys(merged, rule.mergeKey);
  }
  return inOrder(merged, order, before ?? [], identityBy(rule.mergeKey));
};

const mergeField = (
  result: Fields,
  key: string,
  patch: unknown,
  deleting: boolean,
  schema: Schema | undefined,
): void => {
  if (patch === null) {
    delete result[key];
    return;
  }
  const original = own(result, key);
  if (isObject(original) && isObject(patch)) {
    const rule = objectRule(schema, key);
    set(result, key, rule.strategy === 'replace' ? patch : mergeObjects(original, patch, rule.schema));
  } else if (Array.isArray(original) && Array.isArray(patch)) {
    const rule = listRule(schema, key) ?? { schema: undefined, strategy: 'replace', mergeKey: '' };
    const merge = (a: Fields, b: Fields): Fields => mergeObjects(a, b, rule.schema);
    set(result, key, mergeLists(original, patch, rule, deleting, merge));
  } else if (!deleting) {
    const value = asValue(patch);
    if (value === undefined) delete result[key];
    else set(result, key, value);
  }
};

/** Directives first, in the order of the real server; then field by field. */
const mergeObjects = (original: Fields, patch: Fields, schema: Schema | undefined): Fields => {
  if (Object.hasOwn(patch, patchDirective)) {
    const { [patchDirective]: directive, ...rest } = patch;
    if (directive === 'replace') return rest;
    if (directive === 'delete') return {};
    throw unexpectedPatch(`unknown patch type: ${goFormat(directive)} in map: ${goFormat(patch)}`);
  }
  const result: Fields = { ...retained(original, patch) };
  const done = new Set([retainDirective]);
  for (const [key, wanted] of Object.entries(patch)) {
    if (!key.startsWith(orderPrefix)) continue;
    const name = directedField(key, orderPrefix);
    if (name === undefined) throw badRequest('invalid patch format of setElementOrder list');
    const list = ordered(result, patch, name, wanted, schema);
    if (list !== undefined) set(result, name, list);
    done.add(key).add(name);
  }
  for (const [key, value] of Object.entries(patch)) {
    if (done.has(key)) continue;
    const deleting = key.startsWith(deletePrefix);
    const name = deleting ? directedField(key, deletePrefix) : key;
    if (name === undefined) throw badRequest('invalid patch format of primitive list');
    mergeField(result, name, value, deleting, schema);
  }
  return result;
};

/** A strategic merge patch, with the merge keys and strategies of the schema. Shares unchanged parts with the arguments. */
export const strategicMergePatch = (object: Fields, patch: unknown, schema: Schema | undefined): Fields => {
  if (patch === null) return object;
  if (!isObject(patch)) {
    throw badRequest(`json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`);
  }
  return mergeObjects(object, patch, schema);
};
