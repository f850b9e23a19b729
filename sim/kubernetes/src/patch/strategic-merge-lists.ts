import { goFormat, goType } from '../go/fmt.ts';
import { isObject, set } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { invalidPatch, unexpectedPatch } from './patch-errors.ts';

/** Keys in a strategic merge patch that are not fields. */
export const patchDirective = '$patch';
export const retainDirective = '$retainKeys';
export const deletePrefix = '$deleteFromPrimitiveList';
export const orderPrefix = '$setElementOrder';

/** `$setElementOrder/containers` to `containers`; undefined without that prefix. */
export const directedField = (key: string, prefix: string): string | undefined =>
  key.startsWith(`${prefix}/`) ? key.slice(prefix.length + 1) : undefined;

/** A part of a patch with nothing to merge with, as a value. Undefined: it consisted only of directives. */
export const asValue = (patch: unknown): unknown => {
  if (Array.isArray(patch)) return patch.map((entry) => entry as unknown).flatMap(kept);
  if (!isObject(patch)) return patch;
  if (Object.hasOwn(patch, patchDirective)) return undefined;
  const result: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(patch)) {
    const value = field === null ? undefined : asValue(field);
    if (value !== undefined) set(result, key, value);
  }
  return result;
};

const kept = (element: unknown): unknown[] => {
  const value = asValue(element);
  return value === undefined ? [] : [value];
};

/** The strategic merge rule of one field, from the schema. */
interface FieldRule {
  /** Of the field, or of the elements of a list. */
  schema: Schema | undefined;
  strategy: 'merge' | 'replace';
  /** The field that identifies an element of a merged list of objects; empty for primitives. */
  mergeKey: string;
}

const propertyOf = (schema: Schema | undefined, name: string): Schema | undefined => {
  if (schema?.properties && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  for (const part of schema?.allOf ?? []) {
    const found = propertyOf(part, name);
    if (found) return found;
  }
  return typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;
};

const strategiesOf = (property: Schema): string[] => (property['x-kubernetes-patch-strategy'] ?? '').split(',');

/** Objects are merged unless the schema says `replace`. */
export const objectRule = (schema: Schema | undefined, name: string): FieldRule => {
  const property = propertyOf(schema, name);
  const replaced = property !== undefined && strategiesOf(property).includes('replace');
  return { schema: property, strategy: replaced ? 'replace' : 'merge', mergeKey: '' };
};

/** Lists are replaced unless the schema says `merge`. Undefined if there is no such field. */
export const listRule = (schema: Schema | undefined, name: string): FieldRule | undefined => {
  const property = propertyOf(schema, name);
  if (property === undefined) return undefined;
  return {
    schema: property.items,
    strategy: strategiesOf(property).includes('merge') ? 'merge' : 'replace',
    mergeKey: property['x-kubernetes-patch-merge-key'] ?? '',
  };
};

/** Identifies an element of a list: the value of the merge key, or the element itself. */
type ElementIdentity = (element: unknown) => unknown;

/**
 * The order of a merged list. Elements of the patch are in the order of the patch, elements that only the server has keep their order; the
 * latter come before an element of the patch if they were before it.
 */
export const inOrder = (
  elements: readonly unknown[],
  patchOrder: readonly unknown[],
  serverOrder: readonly unknown[],
  identity: ElementIdentity,
): unknown[] => {
  const ranks = (list: readonly unknown[]): Map<unknown, number> => {
    const found = new Map<unknown, number>();
    for (const [index, element] of list.entries()) {
      if (!found.has(identity(element))) found.set(identity(element), index);
    }
    return found;
  };
  const inPatch = ranks(patchOrder);
  const onServer = ranks(serverOrder);
  const place = (rank: Map<unknown, number>, element: unknown): number =>
    rank.get(identity(element)) ?? elements.length;
  const sortedBy = (rank: Map<unknown, number>, list: unknown[]): unknown[] =>
    list.sort((a, b) => place(rank, a) - place(rank, b));

  const named = sortedBy(
    inPatch,
    elements.filter((element) => inPatch.has(identity(element))),
  );
  const result: unknown[] = [];
  const others = sortedBy(
    onServer,
    elements.filter((element) => !inPatch.has(identity(element))),
  );
  const stoodBefore = (a: unknown, b: unknown): boolean => {
    const left = onServer.get(identity(a));
    const right = onServer.get(identity(b));
    return left !== undefined && right !== undefined && left < right;
  };
  for (const element of named) {
    while (others.length > 0 && stoodBefore(others[0], element)) result.push(others.shift());
    result.push(element);
  }
  return [...result, ...others];
};

type Fields = Record<string, unknown>;
/** Merges two elements with the same merge key. */
type MergeElement = (original: Fields, patch: Fields) => Fields;

export const missingKey = (element: unknown, mergeKey: string): Error =>
  unexpectedPatch(`map: ${goFormat(element)} does not contain declared merge key: ${mergeKey}`);

/** All elements of a list have one type, which is not a list. */
export const elementsAreObjects = (...lists: readonly (readonly unknown[])[]): boolean => {
  const elements = lists.flat();
  if (elements.length === 0) throw unexpectedPatch('no elements in any of the given slices');
  if (Array.isArray(elements[0])) throw invalidPatch();
  if (new Set(elements.map(goType)).size > 1) {
    throw unexpectedPatch(`list element types are not identical: ${goFormat(lists)}`);
  }
  return isObject(elements[0]);
};

export const identityBy = (mergeKey: string): ElementIdentity =>
  mergeKey === '' ? (element) => element : (element) => (isObject(element) ? element[mergeKey] : undefined);

/** Applies `$patch` in elements: returns the remaining list and the remaining patch. */
const directed = (original: readonly Fields[], patch: readonly Fields[], mergeKey: string): [Fields[], Fields[]] => {
  let remaining = [...original];
  let replaced = false;
  for (const element of patch) {
    const directive = element[patchDirective];
    if (directive === undefined) continue;
    if (directive === 'merge') throw unexpectedPatch('merging lists cannot yet be specified in the patch');
    if (directive === 'replace') replaced = true;
    else if (directive !== 'delete')
      throw unexpectedPatch(`unknown patch type: ${goFormat(directive)} in map: ${goFormat(element)}`);
    else if (!Object.hasOwn(element, mergeKey)) throw missingKey(element, mergeKey);
    else remaining = remaining.filter((entry) => entry[mergeKey] !== element[mergeKey]);
  }
  const plain = patch.filter((element) => !Object.hasOwn(element, patchDirective));
  return replaced ? [plain, []] : [remaining, plain];
};

const mergeObjects = (
  original: readonly Fields[],
  patch: readonly Fields[],
  mergeKey: string,
  merge: MergeElement,
): unknown[] => {
  const [server, changes] = directed(original, patch, mergeKey);
  const merged = [...server];
  for (const change of changes) {
    if (!Object.hasOwn(change, mergeKey)) throw missingKey(change, mergeKey);
    const index = merged.findIndex((element) => element[mergeKey] === change[mergeKey]);
    const match = merged[index];
    if (match === undefined) merged.push(change);
    else merged[index] = merge(match, change);
  }
  const keyless = merged.find((element) => !Object.hasOwn(element, mergeKey));
  if (keyless !== undefined) throw missingKey(keyless, mergeKey);
  return inOrder(merged, changes, server, identityBy(mergeKey));
};

/** `deleting`: the patch lists primitives to delete. */
export const mergeLists = (
  original: readonly unknown[],
  patch: readonly unknown[],
  rule: FieldRule,
  deleting: boolean,
  merge: MergeElement,
): unknown[] => {
  if (rule.strategy === 'replace' && !deleting) return [...patch];
  if (original.length === 0 && patch.length === 0) return [];
  if (elementsAreObjects(original, patch)) {
    if (rule.mergeKey === '') throw unexpectedPatch('cannot merge lists without merge key for struct');
    return mergeObjects(original.filter(isObject), patch.filter(isObject), rule.mergeKey, merge);
  }
  if (deleting) return original.filter((element) => !patch.includes(element));
  return inOrder([...new Set([...original, ...patch])], patch, original, identityBy(''));
};
