import { isObject } from '../object.ts';
import { patchDirective } from './directives.ts';
import { inOrder, type Identity } from './element-order.ts';
import type { FieldRule } from './field-rule.ts';
import { goType, goValue } from './go-text.ts';
import { inapplicable, unforeseen } from './refusals.ts';

type Fields = Record<string, unknown>;
/** Merges two elements with the same merge key. */
type MergeElement = (original: Fields, patch: Fields) => Fields;

export const missingKey = (element: unknown, mergeKey: string): Error =>
  unforeseen(`map: ${goValue(element)} does not contain declared merge key: ${mergeKey}`);

/** All elements of a list are of one type, and that is no list. */
export const elementsAreObjects = (...lists: readonly (readonly unknown[])[]): boolean => {
  const elements = lists.flat();
  if (elements.length === 0) throw unforeseen('no elements in any of the given slices');
  if (Array.isArray(elements[0])) throw inapplicable();
  if (new Set(elements.map(goType)).size > 1) {
    throw unforeseen(`list element types are not identical: ${goValue(lists)}`);
  }
  return isObject(elements[0]);
};

export const identityBy = (mergeKey: string): Identity =>
  mergeKey === '' ? (element) => element : (element) => (isObject(element) ? element[mergeKey] : undefined);

/** Carries out `$patch` in elements: what remains of the list, and what remains of the patch. */
const directed = (original: readonly Fields[], patch: readonly Fields[], mergeKey: string): [Fields[], Fields[]] => {
  let remaining = [...original];
  let replaced = false;
  for (const element of patch) {
    const directive = element[patchDirective];
    if (directive === undefined) continue;
    if (directive === 'merge') throw unforeseen('merging lists cannot yet be specified in the patch');
    if (directive === 'replace') replaced = true;
    else if (directive !== 'delete')
      throw unforeseen(`unknown patch type: ${goValue(directive)} in map: ${goValue(element)}`);
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

/** `deleting`: the patch lists primitives that are to go. */
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
    if (rule.mergeKey === '') throw unforeseen('cannot merge lists without merge key for struct');
    return mergeObjects(original.filter(isObject), patch.filter(isObject), rule.mergeKey, merge);
  }
  if (deleting) return original.filter((element) => !patch.includes(element));
  return inOrder([...new Set([...original, ...patch])], patch, original, identityBy(''));
};
