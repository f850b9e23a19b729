import { goNumber, goQuote } from '../../go/fmt.ts';
import { compilePattern, occurs } from '../../go/regexp.ts';
import { equal, isObject } from '../../object.ts';
import { propertySchema, type Schema, valueSchema } from '../schema.ts';
import { stringFormat } from './formats.ts';
import { correlatedField, correlatedItem, type Correlation, isUnchanged } from './ratcheting.ts';
import {
  errorWithoutField,
  invalidType,
  invalidValue,
  mergeResults,
  missingField,
  notInEnum,
  resultOf,
  tooLongValue,
  tooManyEntries,
  type ValidationError,
  type ValidationResult,
} from './result.ts';

const int32 = 2 ** 31;
const int64 = 2 ** 63;
const largestFloat32 = 3.4028234663852886e38;

/** Go decodes a JSON number without fraction as int64 if it fits. */
const isInteger = (value: number): boolean => Number.isInteger(value) && value >= -int64 && value < int64;

const numberFormatOf = ({ type, format }: Schema): string => {
  if (type === 'integer') return format === 'int32' || format === 'int64' ? format : '';
  if (type === 'number') return format === 'float' || format === 'double' ? format : '';
  return '';
};

const fits = (value: number, type: string, format: string): boolean => {
  if (type === 'integer') return isInteger(value) && (format !== 'int32' || (value >= -int32 && value < int32));
  return format !== 'float' || Math.abs(value) <= largestFloat32;
};

const outOfRange = (value: number, schema: Schema, what: string, name: string): ValidationError | undefined => {
  const type = schema['x-kubernetes-int-or-string'] ? '' : (schema.type ?? '');
  const format = numberFormatOf(schema);
  if (fits(value, type, format)) return undefined;
  return errorWithoutField(
    `${what} value must be of type ${type} ${format === '' ? '(default format)' : `with format ${format}`} in ${name}`,
  );
};

const isMultiple = (value: number, factor: number): boolean => {
  if (isInteger(value) && Number.isInteger(factor)) return value % factor === 0;
  const quotient = factor < 1 ? (1 / factor) * value : value / factor;
  return Math.abs(quotient - Math.round(quotient)) < 1e-9;
};

/** Limits are truncated when they are compared with an integer. */
const limitFor = (value: number, limit: number): number => (isInteger(value) ? Math.trunc(limit) : limit);

const multiple = (value: number, factor: number, name: string): ValidationError | undefined => {
  if (factor <= 0) {
    return invalidValue(name, factor, `factor MultipleOf declared for ${name} must be positive: ${goNumber(factor)}`);
  }
  if (isMultiple(value, factor)) return undefined;
  return invalidValue(name, value, `${name} in body should be a multiple of ${goNumber(factor)}`);
};

const atLeast = (value: number, limit: number, exclusive: boolean, name: string): ValidationError | undefined => {
  if (exclusive ? value > limit : value >= limit) return undefined;
  const how = exclusive ? 'greater than' : 'greater than or equal to';
  return invalidValue(name, value, `${name} in body should be ${how} ${goNumber(limit)}`);
};

const atMost = (value: number, limit: number, exclusive: boolean, name: string): ValidationError | undefined => {
  if (exclusive ? value < limit : value <= limit) return undefined;
  const how = exclusive ? 'less than' : 'less than or equal to';
  return invalidValue(name, value, `${name} in body should be ${how} ${goNumber(limit)}`);
};

const validateNumber = (value: number, schema: Schema, name: string): ValidationResult => {
  const { multipleOf, minimum, maximum } = schema;
  const findings = [outOfRange(value, schema, 'Checked', name)];
  if (multipleOf !== undefined) {
    findings.push(outOfRange(multipleOf, schema, 'MultipleOf', name), multiple(value, multipleOf, name));
  }
  if (minimum !== undefined) {
    findings.push(outOfRange(minimum, schema, 'Minimum boundary', name));
    findings.push(atLeast(value, limitFor(value, minimum), schema.exclusiveMinimum === true, name));
  }
  if (maximum !== undefined) {
    findings.push(outOfRange(maximum, schema, 'Maximum boundary', name));
    findings.push(atMost(value, limitFor(value, maximum), schema.exclusiveMaximum === true, name));
  }
  const result = mergeResults(resultOf(), resultOf(...findings.filter((finding) => finding !== undefined)));
  result.matchCount++;
  return result;
};

/** All of a schema except CEL: types, limits, formats, alternatives. Reports the same errors as the real server's validator. */

const typesOf = (schema: Schema): string[] => {
  if (schema['x-kubernetes-int-or-string']) return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
};

/** A format that does not apply to the type is ignored. */
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

const validateType = (value: unknown, schema: Schema, name: string): ValidationResult | undefined => {
  const types = typesOf(schema);
  const format = formatOf(schema, types);
  const [actual, actualFormat] = kindOf(value);
  if (actual === 'null') {
    return types.length === 0 || schema.nullable
      ? { errors: [], matchCount: 1 }
      : resultOf(invalidType(name, types.join(','), 'null'));
  }
  if (types.length === 0 && format === '') return undefined;
  const numeric = types.includes('integer') || types.includes('number');
  // A whole number matches `integer` in any spelling, and any integer is a number.
  const converts =
    (actual === 'number' && Number.isInteger(value) && types.includes('integer')) ||
    (actual === 'integer' && types.includes('number'));
  const fits = types.includes(actual) || converts;
  const isText = actual === 'string' || actual === 'array';
  if (!isText && format !== '' && !fits && actualFormat !== format)
    return resultOf(invalidType(name, format, actualFormat));
  // The real server leaves strings and lists to the format check.
  if (isText && format !== '' && !numeric) return { errors: [], matchCount: 1 };
  return fits ? { errors: [], matchCount: 1 } : resultOf(invalidType(name, types.join(','), actual));
};

const validateString = (value: string, schema: Schema, name: string): ValidationResult => {
  const length = Array.from(value).length;
  if (schema.maxLength !== undefined && length > schema.maxLength)
    return resultOf(tooLongValue(name, schema.maxLength));
  if (schema.minLength !== undefined && length < schema.minLength) {
    return resultOf(invalidValue(name, value, `${name} in body should be at least ${schema.minLength} chars long`));
  }
  if (schema.pattern === undefined || schema.pattern === '') return resultOf();
  const pattern = compilePattern(schema.pattern);
  if (pattern instanceof Error) {
    const text = `${name} in body should match '${schema.pattern}, but pattern is invalid: ${pattern.message}'`;
    return resultOf(invalidValue(name, value, text));
  }
  return occurs(pattern, value)
    ? resultOf()
    : resultOf(invalidValue(name, value, `${name} in body should match '${schema.pattern}'`));
};

const validateList = (
  value: readonly unknown[],
  schema: Schema,
  name: string,
  correlation?: Correlation,
): ValidationResult => {
  const result: ValidationResult = { errors: [], matchCount: 1 };
  const { items, minItems, maxItems } = schema;
  if (items) {
    for (const [index, item] of value.entries()) {
      const child = correlatedItem(correlation, index);
      mergeResults(result, validateValue(item, items, `${name}[${index}]`, child));
    }
  }
  if (minItems !== undefined && value.length < minItems) {
    mergeResults(
      result,
      resultOf(invalidValue(name, value.length, `${name} in body should have at least ${minItems} items`)),
    );
  }
  if (maxItems !== undefined && value.length > maxItems) {
    mergeResults(result, resultOf(tooManyEntries(name, 'items', value.length, maxItems)));
  }
  if (schema.uniqueItems && value.some((item, index) => value.slice(0, index).some((other) => equal(item, other)))) {
    mergeResults(result, resultOf(invalidValue(name, '', `${name} in body shouldn't contain duplicates`)));
  }
  return result;
};

const validateFields = (
  value: Record<string, unknown>,
  schema: Schema,
  name: string,
  correlation?: Correlation,
): ValidationResult => {
  const result = resultOf();
  const keys = Object.keys(value);
  const { minProperties, maxProperties } = schema;
  if (minProperties !== undefined && keys.length < minProperties) {
    mergeResults(
      result,
      resultOf(invalidValue(name, keys.length, `${name} in body should have at least ${minProperties} properties`)),
    );
  }
  if (maxProperties !== undefined && keys.length > maxProperties) {
    mergeResults(result, resultOf(tooManyEntries(name, 'properties', keys.length, maxProperties)));
  }
  const values = valueSchema(schema);
  for (const key of keys) {
    if (propertySchema(schema, key)) continue;
    if (schema.additionalProperties === false) {
      mergeResults(result, resultOf(invalidValue(name, key, `${name}.${key} in body is a forbidden property`)));
    } else if (values) {
      mergeResults(result, validateValue(value[key], values, `${name}.${key}`, correlatedField(correlation, key)));
    }
  }
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    if (!Object.hasOwn(value, key)) continue;
    // Old and new object are decoded as the same type, so these two always look unchanged: no ratcheting.
    const ratchets = name !== '' || (key !== 'apiVersion' && key !== 'kind');
    const child = ratchets ? correlatedField(correlation, key) : undefined;
    mergeResults(result, validateValue(value[key], field, name === '' ? key : `${name}.${key}`, child));
  }
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) mergeResults(result, resultOf(missingField(`${name}.${key}`)));
  }
  return result;
};

/** If all alternatives fail, the best match is reported, and the first of several equal ones. */
const bestMatch = (verdicts: readonly ValidationResult[]): ValidationResult =>
  verdicts.reduce(
    (winner, candidate) => (candidate.matchCount > winner.matchCount ? candidate : winner),
    verdicts[0] ?? resultOf(),
  );

const isValid = ({ errors }: ValidationResult): boolean => errors.length === 0;

const validateAlternatives = (
  value: unknown,
  schema: Schema,
  name: string,
  correlation?: Correlation,
): ValidationResult => {
  const result = resultOf();
  const against = (part: Schema): ValidationResult => validateWithoutRatcheting(value, part, name, correlation);
  const { anyOf = [], oneOf = [], allOf = [], not } = schema;
  if (anyOf.length > 0) {
    const verdicts = anyOf.map(against);
    const fitting = verdicts.find(isValid);
    if (!fitting)
      mergeResults(result, resultOf(errorWithoutField(`${goQuote(name)} must validate at least one schema (anyOf)`)));
    mergeResults(result, fitting ?? bestMatch(verdicts));
  }
  if (oneOf.length > 0) {
    const verdicts = oneOf.map(against);
    const fitting = verdicts.filter(isValid);
    if (fitting.length !== 1) {
      const count = fitting.length === 0 ? 'Found none valid' : `Found ${fitting.length} valid alternatives`;
      mergeResults(
        result,
        resultOf(errorWithoutField(`${goQuote(name)} must validate one and only one schema (oneOf). ${count}`)),
      );
    }
    if (fitting.length < 2) mergeResults(result, fitting[0] ?? bestMatch(verdicts));
  }
  if (allOf.length > 0) {
    const verdicts = allOf.map(against);
    mergeResults(result, ...verdicts);
    const count = verdicts.filter(isValid).length;
    if (count < allOf.length) {
      const none = count === 0 ? '. None validated' : '';
      mergeResults(
        result,
        resultOf(errorWithoutField(`${goQuote(name)} must validate all the schemas (allOf)${none}`)),
      );
    }
  }
  if (not && isValid(against(not)))
    mergeResults(result, resultOf(errorWithoutField(`${goQuote(name)} must not validate the schema (not)`)));
  result.matchCount++;
  return result;
};

const validateEnum = (value: unknown, schema: Schema, name: string): ValidationResult => {
  const allowed = schema.enum ?? [];
  if (allowed.length === 0 || (value !== null && allowed.some((entry) => equal(entry, value)))) return resultOf();
  return resultOf(notInEnum(name, value, allowed));
};

const validateWithoutRatcheting = (
  value: unknown,
  schema: Schema,
  name: string,
  correlation?: Correlation,
): ValidationResult => {
  const type = validateType(value, schema, name);
  if (value === null || value === undefined) return mergeResults(type ?? resultOf(), validateEnum(null, schema, name));
  const result = resultOf();
  const add = (part: ValidationResult): void => {
    mergeResults(result, part);
    result.matchCount++;
  };
  if (type) add(type);
  add(validateAlternatives(value, schema, name, correlation));
  if (typeof value === 'string') {
    add(validateString(value, schema, name));
    const format = formatOf(schema, typesOf(schema));
    const check = stringFormat(format);
    if (check) add(check(value) ? resultOf() : resultOf(invalidType(name, format, value)));
  }
  if (typeof value === 'number') add(validateNumber(value, schema, name));
  if (Array.isArray(value)) add(validateList(value, schema, name, correlation));
  add(validateEnum(value, schema, name));
  if (isObject(value)) add(validateFields(value, schema, name, correlation));
  result.matchCount++;
  return result;
};

/**
 * Validates `value` against `schema`. With a correlation it is an update, and errors in unchanged parts are ignored. That applies to the
 * schema itself, not to its alternatives.
 */
export const validateValue = (
  value: unknown,
  schema: Schema,
  name: string,
  correlation?: Correlation,
): ValidationResult => {
  const result = validateWithoutRatcheting(value, schema, name, correlation);
  return result.errors.length > 0 && isUnchanged(correlation) ? { errors: [], matchCount: result.matchCount } : result;
};
