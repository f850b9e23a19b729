import { isObject } from '../object.ts';
import { type Cause, invalid, required } from '../status/cause.ts';
import { property, valueSchema } from './fields.ts';
import { goValue } from './go-text.ts';
import { labelProblems } from './names.ts';
import { at, inside, within } from './path.ts';
import type { Schema } from './schema.ts';

/** Resources inside of a resource need the fields that make them one. */

const invalidValue = (field: string, value: unknown, detail: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${goValue(value)}: ${detail}`,
  field,
});

const validateApiVersion = (value: unknown, field: string): Cause[] => {
  if (typeof value !== 'string') return [invalidValue(field, value, 'must be a string')];
  if (value === '') return [invalid(field, value, 'must not be empty')];
  if (value.split('/').length > 2) return [invalid(field, value, `unexpected GroupVersion string: ${value}`)];
  return [];
};

const validateKind = (value: unknown, field: string): Cause[] => {
  if (typeof value !== 'string') return [invalidValue(field, value, 'must be a string')];
  if (value === '') return [invalid(field, value, 'must not be empty')];
  const problems = labelProblems(value.toLowerCase());
  if (problems.length === 0) return [];
  return [invalid(field, value, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
};

const validateName = (metadata: unknown, path: string): Cause[] => {
  const name = isObject(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string' || name === '') return [];
  const field = `${path}.name`;
  if (name === '.' || name === '..') return [invalid(field, name, `may not be '${name}'`)];
  return ['/', '%']
    .filter((character) => name.includes(character))
    .map((character) => invalid(field, name, `may not contain '${character}'`));
};

const validateResource = (value: Record<string, unknown>, path: string): Cause[] => [
  ...['apiVersion', 'kind'].filter((name) => !Object.hasOwn(value, name)).map((name) => required(within(path, name))),
  ...(Object.hasOwn(value, 'apiVersion') ? validateApiVersion(value['apiVersion'], within(path, 'apiVersion')) : []),
  ...(Object.hasOwn(value, 'kind') ? validateKind(value['kind'], within(path, 'kind')) : []),
  ...validateName(value['metadata'], within(path, 'metadata')),
];

export const validateEmbedded = (value: unknown, schema: Schema | undefined, path = ''): Cause[] => {
  if (!schema) return [];
  if (Array.isArray(value))
    return value.flatMap((item, index) => validateEmbedded(item, schema.items, at(path, index)));
  if (!isObject(value)) return [];
  const own = schema['x-kubernetes-embedded-resource'] ? validateResource(value, path) : [];
  const nested = Object.entries(value).flatMap(([key, field]) => {
    const named = property(schema, key);
    return named
      ? validateEmbedded(field, named, within(path, key))
      : validateEmbedded(field, valueSchema(schema), inside(path, key));
  });
  return [...own, ...nested];
};
