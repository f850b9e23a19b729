import { copy, equal, isObject } from '../object.ts';
import type { Cause } from '../status/cause.ts';
import { validateEmbedded } from './embedded.ts';
import { causesOf } from './findings.ts';
import { goValue } from './go-text.ts';
import { inside, within } from './path.ts';
import { pruneValue } from './prune.ts';
import { validateRules } from './rules.ts';
import type { Schema } from './schema.ts';
import { validateStructure } from './structure.ts';

/** A default must itself be valid: it is put into objects without being asked again. */

const isPruned = (value: unknown, schema: Schema): boolean => {
  const pruned = copy(value);
  pruneValue(pruned, schema, false, false);
  return equal(pruned, value);
};

const validateDefault = (schema: Schema, path: string): Cause[] => {
  const { default: value } = schema;
  if (value === undefined || value === null) return [];
  const field = within(path, 'default');
  const unknown: Cause[] = isPruned(value, schema)
    ? []
    : [
        {
          reason: 'FieldValueInvalid',
          message: `Invalid value: ${goValue(value)}: must not have unknown fields`,
          field,
        },
      ];
  const embedded = validateEmbedded(value, schema, field);
  if (embedded.length > 0) return [...unknown, ...embedded];
  const structure = causesOf(validateStructure(value, schema, ''), field);
  if (structure.length > 0) return [...unknown, ...structure];
  const rules = { path: field, isRoot: false, ratchets: false };
  const onUpdate = validateRules(value, schema, value, rules);
  return [...unknown, ...(onUpdate.length > 0 ? onUpdate : validateRules(value, schema, undefined, rules))];
};

/** What is wrong with the defaults in a schema. */
export const defaultCauses = (schema: Schema, path: string): Cause[] => [
  ...validateDefault(schema, path),
  ...(schema.items ? defaultCauses(schema.items, within(path, 'items')) : []),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    isObject(child) ? defaultCauses(child, inside(within(path, 'properties'), name)) : [],
  ),
];
