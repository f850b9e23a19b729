import { type Cause, forbidden, invalid, notSupported, required } from '../../errors/field-errors.ts';
import { goValue } from '../../go/fmt.ts';
import { copy, equal, isObject } from '../../object.ts';
import { childPath, fieldPathOf, keyPath } from '../field-path.ts';
import { isMetaField } from '../object-meta.ts';
import { pruneValue } from '../pruning.ts';
import { type Schema, type ValidationRule, valueSchema } from '../schema.ts';
import { compiledRules, validateRules } from '../validation/cel-rules.ts';
import { validateEmbedded } from '../validation/custom-resource.ts';
import { causesOf } from '../validation/result.ts';
import { validateValue } from '../validation/values.ts';
import { goRule, goSchema, setFields } from './go-schema.ts';
import { listAndMapCauses } from './lists-and-maps.ts';
import { structuralCauses } from './structural.ts';

/** Defaults must be valid: they are set in objects without another check. */

const isPrunedDefault = (value: unknown, schema: Schema): boolean => {
  const pruned = copy(value);
  pruneValue(pruned, schema, false, false);
  return equal(pruned, value);
};

const validateDefault = (schema: Schema, path: string): Cause[] => {
  const { default: value } = schema;
  if (value === undefined || value === null) return [];
  const field = childPath(path, 'default');
  const unknown: Cause[] = isPrunedDefault(value, schema)
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
  const structure = causesOf(validateValue(value, schema, ''), field);
  if (structure.length > 0) return [...unknown, ...structure];
  const rules = { path: field, isRoot: false, ratchets: false };
  const onUpdate = validateRules(value, schema, value, rules);
  return [...unknown, ...(onUpdate.length > 0 ? onUpdate : validateRules(value, schema, undefined, rules))];
};

/** Errors in the defaults of a schema. */
const defaultCauses = (schema: Schema, path: string): Cause[] => [
  ...validateDefault(schema, path),
  ...(schema.items ? defaultCauses(schema.items, childPath(path, 'items')) : []),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    isObject(child) ? defaultCauses(child, keyPath(childPath(path, 'properties'), name)) : [],
  ),
];

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const hasLines = (text: string): boolean => /[\n\r]/.test(text);

/** Errors of a rule before compilation. */
const ruleTextCauses = (rule: ValidationRule, schema: Schema, path: string): Cause[] => {
  const { message = '', messageExpression = '', fieldPath = '' } = rule;
  const causes: Cause[] = [];
  if (rule.rule.trim() === '') causes.push(required(`${path}.rule`, 'rule is not specified'));
  else if (message !== '' && message.trim() === '') {
    causes.push(invalid(`${path}.message`, message, 'must be non-empty if specified'));
  } else if (hasLines(message.trim())) causes.push(invalid(`${path}.message`, message, 'must not contain line breaks'));
  else if (hasLines(rule.rule.trim()) && message.trim() === '') {
    causes.push(required(`${path}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    causes.push(required(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  }
  if (rule.reason !== undefined && !reasons.includes(rule.reason)) {
    causes.push(notSupported(`${path}.reason`, rule.reason, reasons));
  }
  if (fieldPath !== '' && fieldPath.trim() === '') {
    causes.push(invalid(`${path}.fieldPath`, fieldPath, 'must be non-empty if specified'));
  }
  if (hasLines(fieldPath)) causes.push(invalid(`${path}.fieldPath`, fieldPath, 'must not contain line breaks'));
  if (fieldPath !== '' && fieldPathOf(fieldPath, schema) === undefined) {
    causes.push(invalid(`${path}.fieldPath`, fieldPath, 'must be a valid path'));
  }
  return causes;
};

/** Validates the schemas of a CustomResourceDefinition. */

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

const unsupported = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

/** The position of a schema. */
interface Context {
  isRoot: boolean;
  insideMeta: boolean;
  /** Why a default is forbidden here; undefined if allowed. */
  noDefaults: string | undefined;
  /** The first parent whose old and new items cannot be correlated. */
  uncorrelated: string | undefined;
  /** Whether to check rules: only if the schema is valid, and never in alternatives. */
  rules: boolean;
}

interface Causes {
  schema: Cause[];
  rules: Cause[];
}

const invalidValue = (field: string, shown: string, detail: string): Cause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${shown}: ${detail}`,
  field,
});

const validateKeywords = (schema: Schema, path: string, context: Context): Cause[] => {
  const values: Record<string, unknown> = { ...schema };
  const causes: Cause[] = [];
  if (schema.type !== undefined && !types.includes(schema.type))
    causes.push(notSupported(childPath(path, 'type'), schema.type, types));
  if (schema.default !== undefined && schema.default !== null && context.noDefaults !== undefined) {
    causes.push(forbidden(childPath(path, 'default'), `must not be set ${context.noDefaults}`.trimEnd()));
  }
  for (const name of unsupported) {
    if (values[name] !== undefined) causes.push(forbidden(childPath(path, name), `${name} is not supported`));
  }
  if (values['type'] === 'null') {
    causes.push(forbidden(childPath(path, 'type'), 'type cannot be set to null, use nullable as an alternative'));
  }
  if (Array.isArray(schema.items))
    causes.push(forbidden(childPath(path, 'items'), 'items must be a schema object and not an array'));
  if (context.insideMeta && schema['x-kubernetes-embedded-resource']) {
    causes.push(
      forbidden(childPath(path, 'x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'),
    );
  }
  if (schema.uniqueItems) {
    const text = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    causes.push(forbidden(childPath(path, 'uniqueItems'), text));
  }
  const { additionalProperties } = schema;
  if (
    additionalProperties !== undefined &&
    additionalProperties !== true &&
    Object.keys(schema.properties ?? {}).length > 0
  ) {
    causes.push(
      forbidden(childPath(path, 'additionalProperties'), 'additionalProperties and properties are mutual exclusive'),
    );
  }
  return causes;
};

const validateCompilation = (schema: Schema, path: string, context: Context): Cause[] =>
  compiledRules(schema, context.isRoot).flatMap(({ rule, program, failure, messageFailure }, index) => {
    const at = `${path}.x-kubernetes-validations[${index}]`;
    const causes: Cause[] = [];
    if (failure !== undefined) causes.push(invalidValue(`${at}.rule`, goRule(rule), failure));
    if (messageFailure !== undefined)
      causes.push(invalidValue(`${at}.messageExpression`, goRule(rule), messageFailure));
    if (program?.usesOldSelf && context.uncorrelated !== undefined) {
      const text = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${context.uncorrelated}`;
      causes.push(invalid(`${at}.rule`, rule.rule, text));
    } else if (!program?.usesOldSelf && rule.optionalOldSelf !== undefined) {
      causes.push(
        invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'),
      );
    }
    return causes;
  });

const validateChildren = (schema: Schema, path: string, context: Context): Causes[] => {
  const inner: Context = { ...context, isRoot: false };
  const values = valueSchema(schema);
  const noDefaults = context.insideMeta
    ? 'inside additionalProperties applying to object metadata'
    : context.noDefaults;
  const isResource = context.isRoot || schema['x-kubernetes-embedded-resource'] === true;
  const fields = Object.entries(schema.properties ?? {}).map(([name, child]) => {
    const meta = isResource && isMetaField(name);
    return validateNode(child, keyPath(childPath(path, 'properties'), name), {
      ...inner,
      insideMeta: context.insideMeta || meta,
      noDefaults: context.isRoot && meta ? `in top-level ${name}` : context.noDefaults,
    });
  });
  const nested: Context = { ...inner, rules: false };
  const alternatives = (['allOf', 'oneOf', 'anyOf'] as const).flatMap((name) =>
    (schema[name] ?? []).map((child, index) => validateNode(child, `${childPath(path, name)}[${index}]`, nested)),
  );
  const uncorrelated =
    schema['x-kubernetes-list-type'] === 'map' ? context.uncorrelated : (context.uncorrelated ?? path);
  return [
    ...(values ? [validateNode(values, childPath(path, 'additionalProperties'), { ...inner, noDefaults })] : []),
    ...fields,
    ...(schema.not ? [validateNode(schema.not, childPath(path, 'not'), nested)] : []),
    ...alternatives,
    ...(schema.items ? [validateNode(schema.items, childPath(path, 'items'), { ...inner, uncorrelated })] : []),
  ];
};

const validateNode = (schema: Schema, path: string, context: Context): Causes => {
  const children = validateChildren(schema, path, context);
  const preserve = schema['x-kubernetes-preserve-unknown-fields'];
  const found: Cause[] = [
    ...validateKeywords(schema, path, context),
    ...children.flatMap((child) => child.schema),
    ...(preserve === false
      ? [invalid(childPath(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined')]
      : []),
    ...listAndMapCauses(schema, path),
    ...(schema['x-kubernetes-validations'] ?? []).flatMap((rule, index) =>
      ruleTextCauses(rule, schema, `${path}.x-kubernetes-validations[${index}]`),
    ),
  ];
  const sound = found.length === 0 && context.rules;
  return {
    schema: found,
    rules: [...children.flatMap((child) => child.rules), ...(sound ? validateCompilation(schema, path, context) : [])],
  };
};

/** With a status subresource the server splits the status off the schema, so only these keywords are allowed at the root. */
const allowedAtRoot =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';

const validateRoot = (schema: Schema, path: string, hasStatus: boolean): Cause[] => {
  const causes: Cause[] = [];
  const allowed = allowedAtRoot.split(' ');
  if (hasStatus && schema.type !== undefined && schema.type !== 'object') {
    const text = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    causes.push(invalid(`${path}.type`, schema.type, text));
  } else if (hasStatus && setFields(schema).some((name) => !allowed.includes(name))) {
    const text = `only [${allowedAtRoot}] fields are allowed at the root of the schema if the status subresource is enabled`;
    causes.push(invalidValue(path, goSchema(schema), text));
  }
  if (schema.nullable) causes.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  return causes;
};

/** Whether a structural schema can be built. Otherwise only these keywords are reported. */
const isConvertible = (schema: Schema): boolean => {
  const values: Record<string, unknown> = { ...schema };
  if ([...unsupported, '$schema'].some((name) => values[name] !== undefined) || Array.isArray(schema.items))
    return false;
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) return false;
  const values_ = valueSchema(schema);
  const parts = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items ? [schema.items] : []),
    ...(values_ ? [values_] : []),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.not ? [schema.not] : []),
  ];
  return parts.every(isConvertible);
};

/** Errors of a schema of a CustomResourceDefinition at `path`. */
export const definitionSchemaCauses = (schema: Schema, path: string, hasStatus: boolean): Cause[] => {
  const convertible = isConvertible(schema);
  const structural = convertible ? structuralCauses(schema, path) : [];
  const defaults = convertible && structural.length === 0 ? defaultCauses(schema, path) : [];
  const rules = convertible && structural.length === 0 && defaults.length === 0;
  const found = validateNode(schema, path, {
    isRoot: true,
    insideMeta: false,
    noDefaults: undefined,
    uncorrelated: undefined,
    rules,
  });
  return [...validateRoot(schema, path, hasStatus), ...structural, ...defaults, ...found.schema, ...found.rules];
};
