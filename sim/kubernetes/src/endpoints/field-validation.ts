import { badRequest, invalidObject } from '../errors/api-error.ts';
import { notSupported } from '../errors/field-errors.ts';
import { goFormat } from '../go/fmt.ts';
import { copy, isObject, type KubeObject } from '../object.ts';
import type { PatchType } from '../patch/apply-patch.ts';
import { prune, unknownFields } from '../schema/pruning.ts';
import type { Schema } from '../schema/schema.ts';
import { builtinTypeError, customTypeError } from '../schema/type-errors.ts';

type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** The expected type of a body. */
export interface Expected {
  group: string;
  version: string;
  kind: string;
  custom: boolean;
  schema: Schema | undefined;
}

interface DecodedObject {
  object: KubeObject;
  /** Errors of strict decoding: unknown and duplicate fields. */
  strictErrors: string[];
  /** Error of any decoding: a value of the wrong type. */
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

/** The prefix of every error of Go's decoder. */
const handledAs = (expected: Expected): string =>
  `${expected.kind} in version "${expected.version}" cannot be handled as a ${expected.kind}: `;

/**
 * Fits a decoded body to its kind, as Go's decoder would: unknown fields are reported and dropped (of built-in kinds; the schema prunes
 * custom resources later), and values must have the right type.
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

/** Throws for a type error, or with strict validation for unknown fields; otherwise returns the warnings to send. */
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

/** How the real server prints a patch whose result it cannot decode, and why. */

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)]),
  );
};

/** The patch itself for a strategic merge, as Go prints a map; otherwise the result, as JSON. */
export const printPatch = (type: PatchType, patch: unknown, result: unknown): string =>
  type === 'strategic' ? goFormat(patch) : JSON.stringify(sorted(result));

const goKinds: Readonly<Record<string, string>> = { number: 'int64', string: 'string', bool: 'bool' };

/** The result of a strategic merge is not decoded from JSON but converted from maps, with other texts for scalars of the wrong type. */
export const patchTypeError = (type: PatchType, mismatch: string): string => {
  const [, found = '', wanted] = /cannot unmarshal (\w+) .*of type (\w+)$/.exec(mismatch) ?? [];
  const kind = Object.hasOwn(goKinds, found) ? goKinds[found] : undefined;
  return type === 'strategic' && kind && wanted ? `cannot convert ${kind} to ${wanted}` : mismatch;
};
