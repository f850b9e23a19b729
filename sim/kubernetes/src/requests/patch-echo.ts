import { isObject } from '../object.ts';
import type { PatchType } from '../patch/apply-patch.ts';
import { goValue } from '../patch/go-text.ts';

/** What the real server shows of a patch whose result it cannot read, and how it says why. */

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)]),
  );
};

/** Of a strategic merge the patch itself, as Go prints a map; of the others the result, as JSON. */
export const echoOf = (type: PatchType, patch: unknown, result: unknown): string =>
  type === 'strategic' ? goValue(patch) : JSON.stringify(sorted(result));

const goKinds: Readonly<Record<string, string>> = { number: 'int64', string: 'string', bool: 'bool' };

/** A strategic merge is not decoded from JSON but converted from maps, and a scalar of the wrong kind is put differently. */
export const mismatchOf = (type: PatchType, mismatch: string): string => {
  const [, found = '', wanted] = /cannot unmarshal (\w+) .*of type (\w+)$/.exec(mismatch) ?? [];
  const kind = Object.hasOwn(goKinds, found) ? goKinds[found] : undefined;
  return type === 'strategic' && kind && wanted ? `cannot convert ${kind} to ${wanted}` : mismatch;
};
