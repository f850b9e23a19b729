import { type Cause, forbidden, invalid, required } from '../../errors/field-errors.ts';
import { compilePattern } from '../../go/regexp.ts';
import { equal } from '../../object.ts';
import { childPath, keyPath } from '../field-path.ts';
import { propertySchema, type Schema, valueSchema } from '../schema.ts';

/** A schema is structural if every field has its own type and alternatives only restrict values. */

type Level = 'root' | 'item' | 'field';

const typeRequired: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

const intOrString = [{ type: 'integer' }, { type: 'string' }];

const metaType = (schema: Schema, name: string, type: string, path: string): Cause[] => {
  const meta = propertySchema(schema, name);
  if (!meta || meta.type === type) return [];
  return [invalid(`${keyPath(childPath(path, 'properties'), name)}.type`, meta.type ?? '', `must be ${type}`)];
};

/** At the root, a schema may only restrict the names in `metadata`. */
const validateRootMetadata = (schema: Schema, path: string): Cause[] => {
  const metadata = propertySchema(schema, 'metadata');
  if (!metadata) return [];
  const { type: _type, default: _default, properties = {}, ...rest } = metadata;
  const onlyNames = Object.keys(properties).every((name) => name === 'name' || name === 'generateName');
  if (onlyNames && Object.keys(rest).length === 0) return [];
  return [
    forbidden(
      keyPath(childPath(path, 'properties'), 'metadata'),
      'must not specify anything other than name and generateName, but metadata is implicitly specified',
    ),
  ];
};

const validateType = (schema: Schema, level: Level, path: string): Cause[] => {
  const { type = '' } = schema;
  const field = childPath(path, 'type');
  const causes: Cause[] = [];
  if (schema['x-kubernetes-embedded-resource'] && type !== 'object') {
    const text = 'must be object if x-kubernetes-embedded-resource is true';
    causes.push(type === '' ? required(field, text) : invalid(field, type, text));
  } else if (type === '' && !schema['x-kubernetes-int-or-string'] && !schema['x-kubernetes-preserve-unknown-fields']) {
    causes.push(required(field, typeRequired[level]));
  }
  if (level === 'root' && type !== '' && type !== 'object')
    causes.push(invalid(field, type, 'must be object at the root'));
  return causes;
};

const validatePattern = (pattern: string | undefined, path: string): Cause[] => {
  if (!pattern) return [];
  const compiled = compilePattern(pattern);
  if (!(compiled instanceof Error)) return [];
  return [
    invalid(childPath(path, 'pattern'), pattern, `must be a valid regular expression, but isn't: ${compiled.message}`),
  ];
};

/** Keywords that are forbidden in alternatives, with the word for the required value. */
const notInAlternatives: readonly (readonly [keyof Schema, string])[] = [
  ['type', 'empty'],
  ['additionalProperties', 'undefined'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
];

const validateAlternative = (schema: Schema, path: string, skipAnyOf = false): Cause[] => [
  ...validateAlternatives(schema, path, skipAnyOf, false),
  ...(schema.items ? validateAlternative(schema.items, childPath(path, 'items')) : []),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    validateAlternative(child, keyPath(childPath(path, 'properties'), name)),
  ),
  ...notInAlternatives
    .filter(
      ([name]) =>
        schema[name] !== undefined && schema[name] !== false && schema[name] !== '' && !equal(schema[name], []),
    )
    .map(([name, word]) => forbidden(childPath(path, name), `must be ${word} to be structural`)),
  ...(propertySchema(schema, 'metadata')
    ? [forbidden(keyPath(childPath(path, 'properties'), 'metadata'), 'must not be specified in a nested context')]
    : []),
];

const validateAlternatives = (schema: Schema, path: string, skipAnyOf: boolean, skipFirstAllOf: boolean): Cause[] => {
  const each = (name: 'anyOf' | 'oneOf'): Cause[] =>
    (schema[name] ?? []).flatMap((part, index) => validateAlternative(part, `${childPath(path, name)}[${index}]`));
  return [
    ...(skipAnyOf ? [] : each('anyOf')),
    ...(schema.allOf ?? []).flatMap((part, index) =>
      validateAlternative(part, `${childPath(path, 'allOf')}[${index}]`, skipFirstAllOf && index === 0),
    ),
    ...each('oneOf'),
    ...(schema.not ? validateAlternative(schema.not, childPath(path, 'not')) : []),
    ...validatePattern(schema.pattern, path),
  ];
};

const validateExtensions = (schema: Schema, level: Level, path: string): Cause[] => {
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  const preserves = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const causes: Cause[] = [];
  for (const [name, set] of [
    ['x-kubernetes-preserve-unknown-fields', preserves],
    ['x-kubernetes-embedded-resource', embedded],
  ] as const) {
    if (set && schema['x-kubernetes-int-or-string']) {
      causes.push(invalid(childPath(path, name), true, 'must be false if x-kubernetes-int-or-string is true'));
    }
  }
  if (schema.additionalProperties !== undefined && level === 'root') {
    causes.push(forbidden(childPath(path, 'additionalProperties'), 'must not be used at the root'));
  }
  if (schema.additionalProperties !== undefined && embedded) {
    causes.push(
      forbidden(childPath(path, 'additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'),
    );
  }
  if (embedded && !preserves && Object.keys(schema.properties ?? {}).length === 0) {
    const text =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    causes.push(required(childPath(path, 'properties'), text));
  }
  return causes;
};

const validateLevel = (schema: Schema, level: Level, path: string): Cause[] => {
  const isResource = level === 'root' || schema['x-kubernetes-embedded-resource'] === true;
  const values = valueSchema(schema);
  return [
    ...(schema.type === 'array' && !schema.items ? [required(childPath(path, 'items'), 'must be specified')] : []),
    ...(schema.items ? validateLevel(schema.items, 'item', childPath(path, 'items')) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
      validateLevel(child, 'field', keyPath(childPath(path, 'properties'), name)),
    ),
    ...(values ? validateLevel(values, 'field', childPath(path, 'additionalProperties')) : []),
    ...validateAlternatives(
      schema,
      path,
      equal(schema.anyOf, intOrString),
      equal(schema.allOf?.[0]?.anyOf, intOrString),
    ),
    ...validateType(schema, level, path),
    ...validateExtensions(schema, level, path),
    ...(isResource ? ['kind', 'apiVersion'].flatMap((name) => metaType(schema, name, 'string', path)) : []),
    ...(isResource ? metaType(schema, 'metadata', 'object', path) : []),
    ...(level === 'root' ? validateRootMetadata(schema, path) : []),
  ];
};

/** Alternatives at the root may only name fields of the schema itself. */
const validateCompleteness = (part: Schema, schema: Schema | undefined, path: string, partPath: string): Cause[] => {
  if (!schema) return [required(path, `because it is defined in ${partPath}`)];
  const alternatives = (['allOf', 'anyOf', 'oneOf'] as const).flatMap((name) =>
    (part[name] ?? []).flatMap((child, index) =>
      validatePart(child, schema, path, `${childPath(partPath, name)}[${index}]`),
    ),
  );
  return [...(part.not ? validatePart(part.not, schema, path, childPath(partPath, 'not')) : []), ...alternatives];
};

const validatePart = (part: Schema, schema: Schema, path: string, partPath: string): Cause[] => [
  ...validateCompleteness(part, schema, path, partPath),
  ...(part.items
    ? completeField(part.items, schema.items, childPath(path, 'items'), childPath(partPath, 'items'))
    : []),
  ...Object.entries(part.properties ?? {}).flatMap(([name, child]) =>
    completeField(
      child,
      propertySchema(schema, name),
      keyPath(childPath(path, 'properties'), name),
      keyPath(childPath(partPath, 'properties'), name),
    ),
  ),
];

const completeField = (part: Schema, schema: Schema | undefined, path: string, partPath: string): Cause[] =>
  schema ? validatePart(part, schema, path, partPath) : [required(path, `because it is defined in ${partPath}`)];

const sortKey = ({ field, message }: Cause): string => `${field}: ${message}`;

/** Why a schema is not structural, sorted like in the real server. */
export const structuralCauses = (schema: Schema, path: string): Cause[] =>
  [...validateLevel(schema, 'root', path), ...validateCompleteness(schema, schema, path, path)].sort((a, b) =>
    sortKey(a) < sortKey(b) ? -1 : 1,
  );
