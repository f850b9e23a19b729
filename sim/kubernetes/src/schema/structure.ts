import { equal, isObject } from '../object.ts';
import { type Correlation, correlatedField, correlatedItem, isUnchanged } from './correlation.ts';
import { property, valueSchema } from './fields.ts';
import {
  merge,
  ofCount,
  ofEnum,
  ofLength,
  ofMissing,
  ofType,
  ofValue,
  ofWhole,
  type Verdict,
  verdict,
} from './findings.ts';
import { stringFormat } from './formats.ts';
import { goQuote } from './go-text.ts';
import { isInteger, validateNumber } from './numbers.ts';
import { compilePattern, occurs } from './pattern.ts';
import type { Schema } from './schema.ts';

/** Everything of a schema but CEL: types, limits, formats, alternatives. Findings are those of the real server's validator. */

const typesOf = (schema: Schema): string[] => {
  if (schema['x-kubernetes-int-or-string']) return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
};

/** A format that means nothing for the type is as good as none. */
const formatOf = (schema: Schema, types: readonly string[]): string => {
  const { format = '' } = schema;
  const only = types.length === 1 ? types[0] : 'string';
  if (only === 'string') return stringFormat(format) ? format : '';
  if (only === 'integer') return format === 'int32' || format === 'int64' ? format : '';
  if (only === 'number') return format === 'float' || format === 'double' ? format : '';
  return '';
};

const kindOf = (value: unknown): [type: string, format: string] => {
  if (value === null || value === undefined) return ['null', ''];
  if (Array.isArray(value)) return ['array', ''];
  if (typeof value === 'number') return isInteger(value) ? ['integer', 'int64'] : ['number', 'float64'];
  if (typeof value === 'object') return ['object', ''];
  return [typeof value, ''];
};

const validateType = (value: unknown, schema: Schema, name: string): Verdict | undefined => {
  const types = typesOf(schema);
  const format = formatOf(schema, types);
  const [actual, actualFormat] = kindOf(value);
  if (actual === 'null') {
    return types.length === 0 || schema.nullable
      ? { findings: [], matches: 1 }
      : verdict(ofType(name, types.join(','), 'null'));
  }
  if (types.length === 0 && format === '') return undefined;
  const numeric = types.includes('integer') || types.includes('number');
  // A whole number fits `integer` however it is written; and any integer is a number.
  const converts =
    (actual === 'number' && Number.isInteger(value) && types.includes('integer')) ||
    (actual === 'integer' && types.includes('number'));
  const fits = types.includes(actual) || converts;
  const isText = actual === 'string' || actual === 'array';
  if (!isText && format !== '' && !fits && actualFormat !== format) return verdict(ofType(name, format, actualFormat));
  // The real server leaves strings and lists to the check of the format.
  if (isText && format !== '' && !numeric) return { findings: [], matches: 1 };
  return fits ? { findings: [], matches: 1 } : verdict(ofType(name, types.join(','), actual));
};

const validateString = (value: string, schema: Schema, name: string): Verdict => {
  const length = Array.from(value).length;
  if (schema.maxLength !== undefined && length > schema.maxLength) return verdict(ofLength(name, schema.maxLength));
  if (schema.minLength !== undefined && length < schema.minLength) {
    return verdict(ofValue(name, value, `${name} in body should be at least ${schema.minLength} chars long`));
  }
  if (schema.pattern === undefined || schema.pattern === '') return verdict();
  const pattern = compilePattern(schema.pattern);
  if (pattern instanceof Error) {
    const text = `${name} in body should match '${schema.pattern}, but pattern is invalid: ${pattern.message}'`;
    return verdict(ofValue(name, value, text));
  }
  return occurs(pattern, value)
    ? verdict()
    : verdict(ofValue(name, value, `${name} in body should match '${schema.pattern}'`));
};

const validateList = (value: readonly unknown[], schema: Schema, name: string, correlation?: Correlation): Verdict => {
  const result: Verdict = { findings: [], matches: 1 };
  const { items, minItems, maxItems } = schema;
  if (items) {
    for (const [index, item] of value.entries()) {
      const child = correlatedItem(correlation, index);
      merge(result, validateStructure(item, items, `${name}[${index}]`, child));
    }
  }
  if (minItems !== undefined && value.length < minItems) {
    merge(result, verdict(ofValue(name, value.length, `${name} in body should have at least ${minItems} items`)));
  }
  if (maxItems !== undefined && value.length > maxItems) {
    merge(result, verdict(ofCount(name, 'items', value.length, maxItems)));
  }
  if (schema.uniqueItems && value.some((item, index) => value.slice(0, index).some((other) => equal(item, other)))) {
    merge(result, verdict(ofValue(name, '', `${name} in body shouldn't contain duplicates`)));
  }
  return result;
};

const validateFields = (
  value: Record<string, unknown>,
  schema: Schema,
  name: string,
  correlation?: Correlation,
): Verdict => {
  const result = verdict();
  const keys = Object.keys(value);
  const { minProperties, maxProperties } = schema;
  if (minProperties !== undefined && keys.length < minProperties) {
    merge(
      result,
      verdict(ofValue(name, keys.length, `${name} in body should have at least ${minProperties} properties`)),
    );
  }
  if (maxProperties !== undefined && keys.length > maxProperties) {
    merge(result, verdict(ofCount(name, 'properties', keys.length, maxProperties)));
  }
  const values = valueSchema(schema);
  for (const key of keys) {
    if (property(schema, key)) continue;
    if (schema.additionalProperties === false) {
      merge(result, verdict(ofValue(name, key, `${name}.${key} in body is a forbidden property`)));
    } else if (values) {
      merge(result, validateStructure(value[key], values, `${name}.${key}`, correlatedField(correlation, key)));
    }
  }
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    if (!Object.hasOwn(value, key)) continue;
    // Both versions of an object are read as the same type, so that these two say nothing about what was there before.
    const ratchets = name !== '' || (key !== 'apiVersion' && key !== 'kind');
    const child = ratchets ? correlatedField(correlation, key) : undefined;
    merge(result, validateStructure(value[key], field, name === '' ? key : `${name}.${key}`, child));
  }
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) merge(result, verdict(ofMissing(`${name}.${key}`)));
  }
  return result;
};

/** Of several alternatives that all fail, the one that fitted best is reported; the first, if several did. */
const best = (verdicts: readonly Verdict[]): Verdict =>
  verdicts.reduce(
    (winner, candidate) => (candidate.matches > winner.matches ? candidate : winner),
    verdicts[0] ?? verdict(),
  );

const isValid = ({ findings }: Verdict): boolean => findings.length === 0;

const validateAlternatives = (value: unknown, schema: Schema, name: string, correlation?: Correlation): Verdict => {
  const result = verdict();
  const against = (part: Schema): Verdict => validateBare(value, part, name, correlation);
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  if (anyOf.length > 0) {
    const verdicts = anyOf.map(against);
    const fitting = verdicts.find(isValid);
    if (!fitting) merge(result, verdict(ofWhole(`${goQuote(name)} must validate at least one schema (anyOf)`)));
    merge(result, fitting ?? best(verdicts));
  }
  if (oneOf.length > 0) {
    const verdicts = oneOf.map(against);
    const fitting = verdicts.filter(isValid);
    if (fitting.length !== 1) {
      const count = fitting.length === 0 ? 'Found none valid' : `Found ${fitting.length} valid alternatives`;
      merge(result, verdict(ofWhole(`${goQuote(name)} must validate one and only one schema (oneOf). ${count}`)));
    }
    if (fitting.length < 2) merge(result, fitting[0] ?? best(verdicts));
  }
  if (allOf.length > 0) {
    const verdicts = allOf.map(against);
    merge(result, ...verdicts);
    const count = verdicts.filter(isValid).length;
    if (count < allOf.length) {
      const none = count === 0 ? '. None validated' : '';
      merge(result, verdict(ofWhole(`${goQuote(name)} must validate all the schemas (allOf)${none}`)));
    }
  }
  if (not && isValid(against(not)))
    merge(result, verdict(ofWhole(`${goQuote(name)} must not validate the schema (not)`)));
  result.matches++;
  return result;
};

const validateEnum = (value: unknown, schema: Schema, name: string): Verdict => {
  const allowed = schema.enum ?? [];
  if (allowed.length === 0 || (value !== null && allowed.some((entry) => equal(entry, value)))) return verdict();
  return verdict(ofEnum(name, value, allowed));
};

const validateBare = (value: unknown, schema: Schema, name: string, correlation?: Correlation): Verdict => {
  const type = validateType(value, schema, name);
  if (value === null || value === undefined) return merge(type ?? verdict(), validateEnum(null, schema, name));
  const result = verdict();
  const add = (part: Verdict): void => {
    merge(result, part);
    result.matches++;
  };
  if (type) add(type);
  add(validateAlternatives(value, schema, name, correlation));
  if (typeof value === 'string') {
    add(validateString(value, schema, name));
    const format = formatOf(schema, typesOf(schema));
    const check = stringFormat(format);
    if (check) add(check(value) ? verdict() : verdict(ofType(name, format, value)));
  }
  if (typeof value === 'number') add(validateNumber(value, schema, name));
  if (Array.isArray(value)) add(validateList(value, schema, name, correlation));
  add(validateEnum(value, schema, name));
  if (isObject(value)) add(validateFields(value, schema, name, correlation));
  result.matches++;
  return result;
};

/**
 * Holds `value` against `schema`. With a correlation it is an update, and what is wrong with a part that did not change is
 * forgiven. That holds for the schema itself, not for the alternatives in it.
 */
export const validateStructure = (value: unknown, schema: Schema, name: string, correlation?: Correlation): Verdict => {
  const result = validateBare(value, schema, name, correlation);
  return result.findings.length > 0 && isUnchanged(correlation) ? { findings: [], matches: result.matches } : result;
};
