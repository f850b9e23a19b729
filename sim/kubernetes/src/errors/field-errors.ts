import type { Json } from '../object.ts';

/** Why one field is invalid: an entry of `details.causes` in a `Status`. */
export interface Cause {
  reason: string;
  /** Without the field: `Invalid value: "x": must be …`. */
  message: string;
  field: string;
}

const withDetail = (text: string, detail: string | undefined): string => (detail ? `${text}: ${detail}` : text);

/** Values as Go's field errors print them: strings quoted, the rest as JSON. */
const shown = (value: Json): string => JSON.stringify(value);

export const required = (field: string, detail?: string): Cause => ({
  reason: 'FieldValueRequired',
  message: withDetail('Required value', detail),
  field,
});

export const forbidden = (field: string, detail: string): Cause => ({
  reason: 'FieldValueForbidden',
  message: withDetail('Forbidden', detail),
  field,
});

export const invalid = (field: string, value: Json, detail: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: withDetail(`Invalid value: ${shown(value)}`, detail),
  field,
});

export const notSupported = (field: string, value: Json, supported: readonly string[]): Cause => ({
  reason: 'FieldValueNotSupported',
  message: withDetail(
    `Unsupported value: ${shown(value)}`,
    supported.length > 0
      ? `supported values: ${supported.map((entry) => JSON.stringify(entry)).join(', ')}`
      : undefined,
  ),
  field,
});

export const duplicate = (field: string, value: Json): Cause => ({
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${shown(value)}`,
  field,
});

export const tooLong = (field: string, maximum: number): Cause => ({
  reason: 'FieldValueTooLong',
  message: `Too long: may not be more than ${maximum} ${maximum === 1 ? 'byte' : 'bytes'}`,
  field,
});

export const tooMany = (field: string, actual: number, maximum: number): Cause => ({
  reason: 'FieldValueTooMany',
  message: `Too many: ${actual}: must have at most ${maximum} ${maximum === 1 ? 'item' : 'items'}`,
  field,
});
