import { type Finding, merge, ofValue, ofWhole, type Verdict, verdict } from './findings.ts';
import { goNumber } from './go-text.ts';
import type { Schema } from './schema.ts';

const int32 = 2 ** 31;
const int64 = 2 ** 63;
const largestFloat32 = 3.4028234663852886e38;

/** Go holds a JSON number without fraction as int64 where it fits. */
export const isInteger = (value: number): boolean => Number.isInteger(value) && value >= -int64 && value < int64;

const formatOf = ({ type, format }: Schema): string => {
  if (type === 'integer') return format === 'int32' || format === 'int64' ? format : '';
  if (type === 'number') return format === 'float' || format === 'double' ? format : '';
  return '';
};

const fits = (value: number, type: string, format: string): boolean => {
  if (type === 'integer') return isInteger(value) && (format !== 'int32' || (value >= -int32 && value < int32));
  return format !== 'float' || Math.abs(value) <= largestFloat32;
};

const outOfRange = (value: number, schema: Schema, what: string, name: string): Finding | undefined => {
  const type = schema['x-kubernetes-int-or-string'] ? '' : (schema.type ?? '');
  const format = formatOf(schema);
  if (fits(value, type, format)) return undefined;
  return ofWhole(
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

const multiple = (value: number, factor: number, name: string): Finding | undefined => {
  if (factor <= 0) {
    return ofValue(name, factor, `factor MultipleOf declared for ${name} must be positive: ${goNumber(factor)}`);
  }
  if (isMultiple(value, factor)) return undefined;
  return ofValue(name, value, `${name} in body should be a multiple of ${goNumber(factor)}`);
};

const atLeast = (value: number, limit: number, exclusive: boolean, name: string): Finding | undefined => {
  if (exclusive ? value > limit : value >= limit) return undefined;
  const how = exclusive ? 'greater than' : 'greater than or equal to';
  return ofValue(name, value, `${name} in body should be ${how} ${goNumber(limit)}`);
};

const atMost = (value: number, limit: number, exclusive: boolean, name: string): Finding | undefined => {
  if (exclusive ? value < limit : value <= limit) return undefined;
  const how = exclusive ? 'less than' : 'less than or equal to';
  return ofValue(name, value, `${name} in body should be ${how} ${goNumber(limit)}`);
};

export const validateNumber = (value: number, schema: Schema, name: string): Verdict => {
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
  const result = merge(verdict(), verdict(...findings.filter((finding) => finding !== undefined)));
  result.matches++;
  return result;
};
