import { Optional } from '@marcbachmann/cel-js';
import { type Program, type Scope, scopeOf } from '../../cel/compile.ts';
import { runtimeErrorText } from '../../cel/errors.ts';
import { celValue } from '../../cel/schema-types.ts';
import { type Cause, forbidden, required } from '../../errors/field-errors.ts';
import { goValue } from '../../go/fmt.ts';
import { isObject } from '../../object.ts';
import { childPath, fieldPathOf, indexPath, keyPath, shownPath } from '../field-path.ts';
import { propertySchema, type Schema, type ValidationRule, valueSchema } from '../schema.ts';
import { correlatedField, correlatedItem, correlatedOldItem, type Correlation, isUnchanged } from './ratcheting.ts';

/** A rule with its programs; `failure` is the compile error. */
interface CompiledRule {
  rule: ValidationRule;
  program?: Program;
  failure?: string;
  message?: Program;
  messageFailure?: string;
  /** Relative path of the field that the rule reports. */
  fieldPath: string;
}

interface Compiled {
  root?: CompiledRule[];
  inner?: CompiledRule[];
}

const cache = new WeakMap<Schema, Compiled>();

const compileRule = (rule: ValidationRule, scope: Scope | undefined, schema: Schema): CompiledRule => {
  const base = { rule, fieldPath: fieldPathOf(rule.fieldPath ?? '', schema) ?? '' };
  if (rule.rule.trim() === '') return base;
  if (!scope) return { ...base, failure: 'failed to convert to declType for CEL validation rules' };
  const program = scope.compile(rule.rule, rule.optionalOldSelf === true);
  if ('failure' in program) return { ...base, failure: `compilation failed: ${program.failure}` };
  if (program.type !== 'bool') return { ...base, failure: 'cel expression must evaluate to a bool' };
  const compiled = { ...base, program };
  if (!rule.messageExpression) return compiled;
  const message = scope.compile(rule.messageExpression, rule.optionalOldSelf === true);
  if ('failure' in message)
    return { ...compiled, messageFailure: `messageExpression compilation failed: ${message.failure}` };
  if (message.type !== 'string') return { ...compiled, messageFailure: 'messageExpression must evaluate to a string' };
  return { ...compiled, message };
};

/** Rules of one schema node, compiled once. `isRoot` at the root of a custom resource. */
export const compiledRules = (schema: Schema, isRoot: boolean): CompiledRule[] => {
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (rules.length === 0) return [];
  const known = cache.get(schema) ?? {};
  const slot = isRoot ? 'root' : 'inner';
  const scope = known[slot] ? undefined : scopeOf(schema, isRoot);
  const compiled = known[slot] ?? rules.map((rule) => compileRule(rule, scope, schema));
  cache.set(schema, { ...known, [slot]: compiled });
  return compiled;
};

const withRules = new WeakMap<Schema, boolean>();

/** Whether the schema or a child has rules. */
export const hasRules = (schema: Schema | undefined): boolean => {
  if (!schema) return false;
  const known = withRules.get(schema);
  if (known !== undefined) return known;
  withRules.set(schema, false);
  const found =
    (schema['x-kubernetes-validations'] ?? []).length > 0 ||
    hasRules(schema.items) ||
    hasRules(valueSchema(schema)) ||
    Object.values(schema.properties ?? {}).some(hasRules);
  withRules.set(schema, found);
  return found;
};

/** A value, its old value (undefined: not comparable), and whether it is known to be unchanged. */
interface ValuePlace {
  value: unknown;
  old: unknown;
  path: string;
  unchanged: boolean;
  correlation: Correlation | undefined;
}

const ruleText = (rule: ValidationRule): string => (rule.message || rule.rule).trim();

const messageFrom = (compiled: CompiledRule, variables: { self: unknown; oldSelf?: unknown }): string | undefined => {
  if (!compiled.message) return undefined;
  try {
    const text = compiled.message.run(variables);
    const trimmed = typeof text === 'string' ? text.trim() : '';
    return trimmed === '' || trimmed.includes('\n') || Buffer.byteLength(trimmed) > 5 * 1024 ? undefined : trimmed;
  } catch {
    return undefined;
  }
};

const causeFor = (rule: ValidationRule, field: string, detail: string, value: unknown, schema: Schema): Cause => {
  const omitted = schema.type === 'object' || schema.type === 'array';
  const shown = omitted ? '' : `: ${goValue(value)}`;
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueDuplicate':
      return { reason: 'FieldValueDuplicate', message: `Duplicate value${shown}`, field };
    case undefined:
    default:
      return { reason: 'FieldValueInvalid', message: `Invalid value${shown}: ${detail}`, field };
  }
};

const ruleError = (schema: Schema, field: string, text: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${goValue(schema.type ?? '')}: ${text}`,
  field,
});

const evaluateRule = (compiled: CompiledRule, place: ValuePlace, schema: Schema, isRoot: boolean): Cause[] => {
  const { rule, program } = compiled;
  const field = shownPath(place.path);
  if (compiled.failure !== undefined) return [ruleError(schema, field, `rule compile error: ${compiled.failure}`)];
  if (!program) return [];
  const known = place.old !== undefined && place.old !== null;
  if (program.usesOldSelf && !known && !rule.optionalOldSelf) return [];
  const self = celValue(place.value, schema, isRoot);
  const old = known ? celValue(place.old, schema, isRoot) : undefined;
  const oldSelf = rule.optionalOldSelf ? (known ? Optional.of(old) : Optional.none()) : old;
  try {
    if (program.run({ self, oldSelf }) === true) return [];
  } catch (error) {
    return [ruleError(schema, field, runtimeErrorText(error, ruleText(rule)))];
  }
  if (!program.usesOldSelf && place.unchanged) return [];
  const detail =
    messageFrom(compiled, { self, oldSelf }) ?? (rule.message ? rule.message.trim() : `failed rule: ${ruleText(rule)}`);
  const path = compiled.fieldPath === '' ? field : shownPath(childPath(place.path, compiled.fieldPath));
  return [causeFor(rule, path, detail, place.value, schema)];
};

const childPlace = (
  place: ValuePlace,
  value: unknown,
  old: unknown,
  path: string,
  correlation: Correlation | undefined,
): ValuePlace => ({
  value,
  old,
  path,
  correlation,
  unchanged: correlation ? isUnchanged(correlation) : place.unchanged,
});

const evaluate = (place: ValuePlace, schema: Schema, isRoot: boolean): Cause[] => {
  const { value, old, path, correlation } = place;
  if (value === null || value === undefined || !hasRules(schema)) return [];
  const causes = compiledRules(schema, isRoot).flatMap((compiled) => evaluateRule(compiled, place, schema, isRoot));
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items || !hasRules(items)) return causes;
    const nested = value.flatMap((item, index) =>
      evaluate(
        childPlace(
          place,
          item,
          correlatedOldItem(item, old, schema),
          indexPath(path, index),
          correlatedItem(correlation, index),
        ),
        items,
        false,
      ),
    );
    return [...causes, ...nested];
  }
  if (!isObject(value)) return causes;
  const oldFields = isObject(old) ? old : {};
  const values = valueSchema(schema);
  const nested = Object.entries(value).flatMap(([key, field]) => {
    const before = Object.hasOwn(oldFields, key) ? oldFields[key] : undefined;
    const hidden = isRoot && (key === 'apiVersion' || key === 'kind');
    const child = (to: string): ValuePlace =>
      hidden
        ? { value: field, old: before, path: to, correlation: undefined, unchanged: false }
        : childPlace(place, field, before, to, correlatedField(correlation, key));
    const named = propertySchema(schema, key);
    return [
      ...(values ? evaluate(child(keyPath(path, key)), values, false) : []),
      ...(named ? evaluate(child(childPath(path, key)), named, false) : []),
    ];
  });
  return [...causes, ...nested];
};

/**
 * Evaluates all CEL rules of a schema. Rules that use `oldSelf` apply to updates only; other rules are skipped for unchanged values
 * (ratcheting).
 */
export const validateRules = (
  value: unknown,
  schema: Schema,
  old: unknown,
  options: { path?: string; isRoot: boolean; ratchets: boolean },
): Cause[] => {
  const correlation = options.ratchets && old !== undefined ? { value, old, schema } : undefined;
  const place = { value, old, path: options.path ?? '', correlation, unchanged: isUnchanged(correlation) };
  return evaluate(place, schema, options.isRoot);
};
