import { badRequest, invalidObject } from '../errors/api-error.ts';
import { notSupported } from '../errors/field-errors.ts';
import { goFormat } from '../go/fmt.ts';
import { copy, isObject, type KubeObject } from '../object.ts';
import type { PatchType } from '../patch/apply-patch.ts';
import { prune, unknownFields } from '../schema/pruning.ts';
import type { Schema } from '../schema/schema.ts';
import { builtinTypeError, customTypeError } from '../schema/type-errors.ts';

type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** What a body must be. */
export interface Expected {
  group: string;
  version: string;
  kind: string;
  custom: boolean;
  schema: Schema | undefined;
}

interface DecodedObject {
  object: KubeObject;
  /** What strict decoding finds wrong: unknown and duplicate fields. */
  strictErrors: string[];
  /** Why it cannot be an object of that kind at all: a value of the wrong type. */
  typeError: string | undefined;
}

export const fieldValidationOf = (query: URLSearchParams, options: string): FieldValidation => {
  const value = query.get('fieldValidation') ?? '';
  if (value === '') return 'Warn';
  if (value === 'Ignore' || value === 'Warn' || value === 'Strict') return value;
  throw invalidObject({ group: 'meta.k8s.io', plural: '', kind: options }, '', [
    notSupported('fieldValidation', value, ['', 'Ignore', 'Strict', 'Warn']),
  ]);
};

/** How Go's decoder begins every refusal. */
const handledAs = (expected: Expected): string =>
  `${expected.kind} in version "${expected.version}" cannot be handled as a ${expected.kind}: `;

/**
 * Fits what was decoded to its kind, as Go's decoder would: fields that the kind does not have are complained about and dropped (of
 * built-in kinds here; custom resources are pruned later, by their schema), and values must be of the right type.
 */
export const decodeInto = (
  value: Record<string, unknown>,
  duplicates: readonly string[],
  expected: Expected,
): DecodedObject => {
  const { kind, apiVersion, metadata, ...rest } = copy(value);
  const body = { kind, apiVersion, metadata: metadata ?? {}, ...rest } as KubeObject;
  const { schema, custom } = expected;
  const unknown = schema ? unknownFields(body, schema).map((path) => `unknown field "${path}"`) : [];
  const typeError = schema && (custom ? customTypeError(body, schema) : builtinTypeError(body, schema));
  if (schema && !custom && typeError === undefined) prune(body, schema);
  return { object: body, strictErrors: [...duplicates, ...unknown], typeError };
};

/** A refusal of what does not fit, or under strict validation of what is too much; otherwise the warnings to send along. */
export const enforceFieldValidation = (
  conformed: DecodedObject,
  validation: FieldValidation,
  expected: Expected,
): string[] => {
  const { strictErrors, typeError } = conformed;
  if (typeError !== undefined) throw badRequest(`${handledAs(expected)}${typeError}`);
  if (validation === 'Strict' && strictErrors.length > 0) {
    throw badRequest(`${handledAs(expected)}strict decoding error: ${strictErrors.join(', ')}`);
  }
  return validation === 'Ignore' ? [] : strictErrors;
};

export const warningHeader = (warnings: readonly string[]): Record<string, string> =>
  warnings.length === 0 ? {} : { warning: warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(', ') };

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
export const printPatch = (type: PatchType, patch: unknown, result: unknown): string =>
  type === 'strategic' ? goFormat(patch) : JSON.stringify(sorted(result));

const goKinds: Readonly<Record<string, string>> = { number: 'int64', string: 'string', bool: 'bool' };

/** A strategic merge is not decoded from JSON but converted from maps, and a scalar of the wrong kind is put differently. */
export const patchTypeError = (type: PatchType, mismatch: string): string => {
  const [, found = '', wanted] = /cannot unmarshal (\w+) .*of type (\w+)$/.exec(mismatch) ?? [];
  const kind = Object.hasOwn(goKinds, found) ? goKinds[found] : undefined;
  return type === 'strategic' && kind && wanted ? `cannot convert ${kind} to ${wanted}` : mismatch;
};
