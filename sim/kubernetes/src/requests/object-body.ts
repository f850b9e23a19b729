import { copy, type KubeObject } from '../object.ts';
import { prune } from '../schema/prune.ts';
import type { Schema } from '../schema/schema.ts';
import { decodeCustomErrors, decodeErrors } from '../schema/types.ts';
import { unknownFields } from '../schema/unknown-fields.ts';
import { badRequest, invalidObject } from '../status/api-error.ts';
import { notSupported } from '../status/cause.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** What a body must be. */
export interface Expected {
  group: string;
  version: string;
  kind: string;
  custom: boolean;
  schema: Schema | undefined;
}

export interface Conformed {
  object: KubeObject;
  /** What strict decoding finds wrong: unknown and duplicate fields. */
  complaints: string[];
  /** Why it cannot be an object of that kind at all: a value of the wrong type. */
  mismatch: string | undefined;
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
export const conform = (
  value: Record<string, unknown>,
  duplicates: readonly string[],
  expected: Expected,
): Conformed => {
  const { kind, apiVersion, metadata, ...rest } = copy(value);
  const body = { kind, apiVersion, metadata: metadata ?? {}, ...rest } as KubeObject;
  const { schema, custom } = expected;
  const unknown = schema ? unknownFields(body, schema).map((path) => `unknown field "${path}"`) : [];
  const mismatch = schema && (custom ? decodeCustomErrors(body, schema) : decodeErrors(body, schema));
  if (schema && !custom && mismatch === undefined) prune(body, schema);
  return { object: body, complaints: [...duplicates, ...unknown], mismatch };
};

/** A refusal of what does not fit, or under strict validation of what is too much; otherwise the warnings to send along. */
export const judge = (conformed: Conformed, validation: FieldValidation, expected: Expected): string[] => {
  const { complaints, mismatch } = conformed;
  if (mismatch !== undefined) throw badRequest(`${handledAs(expected)}${mismatch}`);
  if (validation === 'Strict' && complaints.length > 0) {
    throw badRequest(`${handledAs(expected)}strict decoding error: ${complaints.join(', ')}`);
  }
  return validation === 'Ignore' ? [] : complaints;
};

export const warningHeader = (warnings: readonly string[]): Record<string, string> =>
  warnings.length === 0 ? {} : { warning: warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(', ') };
