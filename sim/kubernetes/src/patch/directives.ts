import { isObject, set } from '../object.ts';

/** Keys in a strategic merge patch that are not fields. */
export const patchDirective = '$patch';
export const retainDirective = '$retainKeys';
export const deletePrefix = '$deleteFromPrimitiveList';
export const orderPrefix = '$setElementOrder';

/** `$setElementOrder/containers` to `containers`; undefined if nothing stands behind the slash. */
export const directedField = (key: string, prefix: string): string | undefined =>
  key.startsWith(`${prefix}/`) ? key.slice(prefix.length + 1) : undefined;

/** A part of a patch that meets nothing it could be merged with. Undefined: it was only there to say something about itself. */
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
