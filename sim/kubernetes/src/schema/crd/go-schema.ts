import { goJson } from '../../go/fmt.ts';
import { isObject } from '../../object.ts';
import type { Schema, ValidationRule } from '../schema.ts';

/** Schemas and rules as the real server prints its internal types in errors: every field, with its Go name, in the order of the struct. */

/** Go name, JSON name, and the text for an absent value. */
const fields: readonly (readonly [string, string, string])[] = [
  ['ID', 'id', '""'],
  ['Schema', '$schema', '""'],
  ['Ref', '$ref', 'null'],
  ['Description', 'description', '""'],
  ['Type', 'type', '""'],
  ['Nullable', 'nullable', 'false'],
  ['Format', 'format', '""'],
  ['Title', 'title', '""'],
  ['Default', 'default', 'null'],
  ['Maximum', 'maximum', 'null'],
  ['ExclusiveMaximum', 'exclusiveMaximum', 'false'],
  ['Minimum', 'minimum', 'null'],
  ['ExclusiveMinimum', 'exclusiveMinimum', 'false'],
  ['MaxLength', 'maxLength', 'null'],
  ['MinLength', 'minLength', 'null'],
  ['Pattern', 'pattern', '""'],
  ['MaxItems', 'maxItems', 'null'],
  ['MinItems', 'minItems', 'null'],
  ['UniqueItems', 'uniqueItems', 'false'],
  ['MultipleOf', 'multipleOf', 'null'],
  ['Enum', 'enum', 'null'],
  ['MaxProperties', 'maxProperties', 'null'],
  ['MinProperties', 'minProperties', 'null'],
  ['Required', 'required', 'null'],
  ['Items', 'items', 'null'],
  ['AllOf', 'allOf', 'null'],
  ['OneOf', 'oneOf', 'null'],
  ['AnyOf', 'anyOf', 'null'],
  ['Not', 'not', 'null'],
  ['Properties', 'properties', 'null'],
  ['AdditionalProperties', 'additionalProperties', 'null'],
  ['PatternProperties', 'patternProperties', 'null'],
  ['Dependencies', 'dependencies', 'null'],
  ['AdditionalItems', 'additionalItems', 'null'],
  ['Definitions', 'definitions', 'null'],
  ['ExternalDocs', 'externalDocs', 'null'],
  ['Example', 'example', 'null'],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', 'null'],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', 'false'],
  ['XIntOrString', 'x-kubernetes-int-or-string', 'false'],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', 'null'],
  ['XListType', 'x-kubernetes-list-type', 'null'],
  ['XMapType', 'x-kubernetes-map-type', 'null'],
  ['XValidations', 'x-kubernetes-validations', 'null'],
];

/** Go names of the fields that a schema has set. */
export const setFields = (schema: Schema): string[] => {
  const values: Record<string, unknown> = { ...schema };
  const isSet = (value: unknown): boolean => value !== undefined && value !== '' && value !== false && value !== null;
  return fields
    .filter(([, name]) => isSet(values[name]) && !(Array.isArray(values[name]) && values[name].length === 0))
    .map(([go]) => go);
};

export const goRule = (rule: Partial<ValidationRule>): string =>
  `{"Rule":${goJson(rule.rule ?? '')},"Message":${goJson(rule.message ?? '')},"MessageExpression":${goJson(rule.messageExpression ?? '')},"Reason":${goJson(rule.reason)},"FieldPath":${goJson(rule.fieldPath ?? '')},"OptionalOldSelf":${goJson(rule.optionalOldSelf)}}`;

const list = (values: readonly unknown[], shown: (value: unknown) => string): string =>
  `[${values.map(shown).join(',')}]`;

const goNested = (value: unknown): string => (isObject(value) ? goSchema(value) : goJson(value));

const goField = (name: string, value: unknown): string => {
  switch (name) {
    case 'items':
      return `{"Schema":${goNested(value)},"JSONSchemas":null}`;
    case 'additionalProperties':
      return `{"Allows":${value !== false},"Schema":${isObject(value) ? goSchema(value) : 'null'}}`;
    case 'allOf':
    case 'oneOf':
    case 'anyOf':
      return Array.isArray(value) ? list(value, goNested) : goJson(value);
    case 'not':
      return goNested(value);
    case 'properties':
      return isObject(value)
        ? `{${Object.keys(value)
            .sort()
            .map((key) => `${goJson(key)}:${goNested(value[key])}`)
            .join(',')}}`
        : goJson(value);
    case 'x-kubernetes-validations':
      return Array.isArray(value)
        ? list(value, (rule) => (isObject(rule) ? goRule(rule) : goJson(rule)))
        : goJson(value);
    default:
      return goJson(value);
  }
};

export const goSchema = (schema: Schema): string => {
  const values: Record<string, unknown> = { ...schema };
  const shown = fields.map(
    ([go, name, absent]) => `"${go}":${values[name] === undefined ? absent : goField(name, values[name])}`,
  );
  return `{${shown.join(',')}}`;
};
