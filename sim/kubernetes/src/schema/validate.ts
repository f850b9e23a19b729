import { isObject, type KubeObject } from '../object.ts';
import type { Cause } from '../status/cause.ts';
import { property } from './fields.ts';
import { causesOf } from './findings.ts';
import { validateEmbedded } from './embedded.ts';
import { validateListTypes } from './list-types.ts';
import { hasRules, validateRules } from './rules.ts';
import type { Schema } from './schema.ts';
import { validateStructure } from './structure.ts';

/** Rules may rely on types, lengths and required fields, so that they are not asked about an object that has these wrong. */
const blocking = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const notAsked: Cause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  field: '<nil>',
};

const rulesUnless = (
  causes: readonly Cause[],
  object: KubeObject,
  schema: Schema,
  old: KubeObject | undefined,
): Cause[] => {
  if (!hasRules(schema)) return [];
  if (causes.some(({ reason }) => blocking.has(reason))) return [notAsked];
  return validateRules(object, schema, old, { isRoot: true, ratchets: true });
};

/** A list that was not unique before need not be now. */
const listCauses = (object: KubeObject, schema: Schema, old: KubeObject | undefined): Cause[] =>
  old && validateListTypes(old, schema).length > 0 ? [] : validateListTypes(object, schema);

/**
 * Everything that the schema of a custom resource demands, in the order in which the real server says so. `old` makes it an
 * update: what is wrong but did not change is forgiven. `more` are causes that the caller has found itself.
 */
export const validateObject = (
  object: KubeObject,
  schema: Schema,
  old: KubeObject | undefined,
  more: readonly Cause[] = [],
): Cause[] => {
  const correlation = old && { value: object, old, schema };
  const causes = [
    ...causesOf(validateStructure(object, schema, '', correlation), ''),
    ...more,
    ...validateEmbedded(object, schema),
    ...listCauses(object, schema, old),
  ];
  return [...causes, ...rulesUnless(causes, object, schema, old)];
};

/** The same for a write to `/status`, of which only the status is held against the schema; but all rules apply. */
export const validateStatus = (
  object: KubeObject,
  schema: Schema,
  old: KubeObject,
  more: readonly Cause[] = [],
): Cause[] => {
  const status = isObject(schema) ? property(schema, 'status') : undefined;
  const before = old['status'];
  const correlation =
    status && before !== undefined ? { value: object['status'], old: before, schema: status } : undefined;
  const structure =
    status && object['status'] !== undefined
      ? causesOf(validateStructure(object['status'], status, '', correlation), 'status')
      : [];
  const causes = [...structure, ...more, ...listCauses(object, schema, old)];
  return [...causes, ...rulesUnless(causes, object, schema, old)];
};
