import { type Cause, forbidden, invalid, notSupported } from '../status/cause.ts';
import { defaultCauses } from './default-values.ts';
import { listAndMapCauses } from './definition-lists.ts';
import { ruleTextCauses } from './definition-rules.ts';
import { valueSchema } from './fields.ts';
import { goRule, goSchema, setFields } from './go-schema.ts';
import { isMetaField } from './object-meta.ts';
import { inside, within } from './path.ts';
import { compiledRules } from './rules.ts';
import type { Schema } from './schema.ts';
import { structuralCauses } from './structural.ts';

/** What a CustomResourceDefinition may say in its schemas. */

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

const unsupported = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

/** What is known about the place of a schema. */
interface Context {
  isRoot: boolean;
  insideMeta: boolean;
  /** Why there may be no default; undefined if there may. */
  noDefaults: string | undefined;
  /** The first place above whose old and new items cannot be told apart. */
  uncorrelated: string | undefined;
  /** Rules are looked at only if the schema is sound, and never in alternatives. */
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
    causes.push(notSupported(within(path, 'type'), schema.type, types));
  if (schema.default !== undefined && schema.default !== null && context.noDefaults !== undefined) {
    causes.push(forbidden(within(path, 'default'), `must not be set ${context.noDefaults}`.trimEnd()));
  }
  for (const name of unsupported) {
    if (values[name] !== undefined) causes.push(forbidden(within(path, name), `${name} is not supported`));
  }
  if (values['type'] === 'null') {
    causes.push(forbidden(within(path, 'type'), 'type cannot be set to null, use nullable as an alternative'));
  }
  if (Array.isArray(schema.items))
    causes.push(forbidden(within(path, 'items'), 'items must be a schema object and not an array'));
  if (context.insideMeta && schema['x-kubernetes-embedded-resource']) {
    causes.push(forbidden(within(path, 'x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'));
  }
  if (schema.uniqueItems) {
    const text = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    causes.push(forbidden(within(path, 'uniqueItems'), text));
  }
  const { additionalProperties } = schema;
  if (
    additionalProperties !== undefined &&
    additionalProperties !== true &&
    Object.keys(schema.properties ?? {}).length > 0
  ) {
    causes.push(
      forbidden(within(path, 'additionalProperties'), 'additionalProperties and properties are mutual exclusive'),
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
    return validateNode(child, inside(within(path, 'properties'), name), {
      ...inner,
      insideMeta: context.insideMeta || meta,
      noDefaults: context.isRoot && meta ? `in top-level ${name}` : context.noDefaults,
    });
  });
  const nested: Context = { ...inner, rules: false };
  const alternatives = (['allOf', 'oneOf', 'anyOf'] as const).flatMap((name) =>
    (schema[name] ?? []).map((child, index) => validateNode(child, `${within(path, name)}[${index}]`, nested)),
  );
  const uncorrelated =
    schema['x-kubernetes-list-type'] === 'map' ? context.uncorrelated : (context.uncorrelated ?? path);
  return [
    ...(values ? [validateNode(values, within(path, 'additionalProperties'), { ...inner, noDefaults })] : []),
    ...fields,
    ...(schema.not ? [validateNode(schema.not, within(path, 'not'), nested)] : []),
    ...alternatives,
    ...(schema.items ? [validateNode(schema.items, within(path, 'items'), { ...inner, uncorrelated })] : []),
  ];
};

const validateNode = (schema: Schema, path: string, context: Context): Causes => {
  const children = validateChildren(schema, path, context);
  const preserve = schema['x-kubernetes-preserve-unknown-fields'];
  const found: Cause[] = [
    ...validateKeywords(schema, path, context),
    ...children.flatMap((child) => child.schema),
    ...(preserve === false
      ? [invalid(within(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined')]
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

/** With a status subresource the status is taken out of the schema, so that nothing at its root may speak of it. */
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

/** Keywords that a structural schema cannot even be made from; they are reported on their own. */
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

/** What is wrong with a schema of a CustomResourceDefinition that stands at `path`. */
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
