import {
  type Cause,
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../errors/field-errors.ts';
import { goJson } from '../../go/fmt.ts';
import { equal, type Json } from '../../object.ts';
import { definitionSchemaCauses } from '../../schema/crd/crd-schema.ts';
import { goSchema } from '../../schema/crd/go-schema.ts';
import { followPath } from '../../schema/field-path.ts';
import type { Schema } from '../../schema/schema.ts';
import { dns1035Label, dnsSubdomain } from '../validation/names.ts';
import type { Definition, DefinitionNames, DefinitionVersion } from './definition.ts';
import type { ScalePaths } from './scale.ts';

/** Validates a version, except its schema. */

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

const simplePath = (path: string, field: string): Cause[] =>
  path.startsWith('.') ? [] : [invalid(field, path, 'must be a simple json path starting with .')];

const validateColumns = (columns: DefinitionVersion['additionalPrinterColumns'], path: string): Cause[] =>
  (columns ?? []).flatMap(({ name, type, format, jsonPath }, index) => {
    const field = `${path}[${index}]`;
    return [
      ...(name ? [] : [required(`${field}.name`)]),
      ...(!type
        ? [required(`${field}.type`, `must be one of ${columnTypes.join(',')}`)]
        : columnTypes.includes(type)
          ? []
          : [invalid(`${field}.type`, type, `must be one of ${columnTypes.join(',')}`)]),
      ...(format && !columnFormats.includes(format)
        ? [invalid(`${field}.format`, format, `must be one of ${columnFormats.join(',')}`)]
        : []),
      ...(jsonPath ? simplePath(jsonPath, `${field}.JSONPath`) : [required(`${field}.JSONPath`)]),
    ];
  });

const replicasPath = (path: string | undefined, under: string, field: string): Cause[] => {
  if (!path) return [required(field)];
  const causes = simplePath(path, field);
  if (causes.length > 0 || path.startsWith(`${under}.`)) return causes;
  return [invalid(field, path, `should be a json path under ${under}`)];
};

const validateScale = (scale: ScalePaths | undefined, path: string): Cause[] => {
  if (!scale) return [];
  const selector = scale.labelSelectorPath;
  const field = `${path}.scale.labelSelectorPath`;
  const wrong = selector ? simplePath(selector, field) : [];
  return [
    ...replicasPath(scale.specReplicasPath, '.spec', `${path}.scale.specReplicasPath`),
    ...replicasPath(scale.statusReplicasPath, '.status', `${path}.scale.statusReplicasPath`),
    ...wrong,
    ...(selector && wrong.length === 0 && !/^\.(spec|status)\./.test(selector)
      ? [invalid(field, selector, 'should be a json path under either .spec or .status')]
      : []),
  ];
};

const selectableTypes = ['string', 'boolean', 'integer'];
const largestSelection = 8;

const validateSelectable = (
  fields: DefinitionVersion['selectableFields'],
  schema: Schema | undefined,
  path: string,
): Cause[] => {
  if (!fields || fields.length === 0) return [];
  const seen = new Set<string>();
  const causes = fields.flatMap(({ jsonPath }, index): Cause[] => {
    const field = `${path}[${index}].jsonPath`;
    if (!jsonPath) return [required(field)];
    if (jsonPath.includes('[')) return [invalid(field, jsonPath, 'is an invalid path: array notation is not allowed')];
    const found = followPath(jsonPath, schema ?? {});
    if (!found) return [invalid(field, jsonPath, 'is an invalid path: does not refer to a valid field')];
    const again = seen.has(found.path);
    seen.add(found.path);
    return [
      ...(found.path.startsWith('metadata') ? [invalid(field, jsonPath, 'must not point to fields in metadata')] : []),
      ...(selectableTypes.includes(found.schema?.type ?? '')
        ? []
        : [
            invalid(
              field,
              jsonPath,
              'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
            ),
          ]),
      ...(again ? [duplicate(field, jsonPath)] : []),
    ];
  });
  return seen.size > largestSelection ? [...causes, tooMany(path, seen.size, largestSelection)] : causes;
};

const validateDeprecation = ({ deprecated, deprecationWarning: text }: DefinitionVersion, field: string): Cause[] => {
  if (text === undefined) return [];
  if (!deprecated) return [invalid(field, text, 'can only be set for deprecated versions')];
  const control = Array.from(text).findIndex((character) => /[\p{C}\p{Zl}\p{Zp}]/u.test(character));
  return [
    ...(Buffer.byteLength(text) > 256 ? [invalid(field, text, 'must be <= 256 characters long')] : []),
    ...(text === '' ? [invalid(field, text, 'must not be an empty string')] : []),
    ...(control >= 0
      ? [
          invalid(
            field,
            text,
            `must only contain printable UTF-8 characters; non-printable character found at index ${control}`,
          ),
        ]
      : []),
  ];
};

const oneOf = (value: string | undefined, allowed: readonly string[], field: string): Cause[] => {
  if (!value) return [required(field)];
  return allowed.includes(value) ? [] : [notSupported(field, value, allowed)];
};

const validateReviewVersions = (versions: readonly string[], field: string): Cause[] => {
  if (versions.length === 0) return [required(field)];
  const known = versions.some((version) => version === 'v1' || version === 'v1beta1');
  return [
    ...versions.flatMap((version, index) =>
      versions.indexOf(version) < index
        ? [invalid(`${field}[${index}]`, version, 'duplicate version')]
        : dns1035Label(version).map((text) => invalid(`${field}[${index}]`, version, text)),
    ),
    ...(known ? [] : [invalid(field, [...versions], 'must include at least one of v1, v1beta1')]),
  ];
};

/** Validates the conversion. The real server's internal type has other names for the fields of `webhook`, and uses those in errors. */
const validateConversion = (conversion: Definition['spec']['conversion']): Cause[] => {
  if (!conversion) return [];
  const client = 'spec.conversion.webhookClientConfig';
  const reviews = 'spec.conversion.conversionReviewVersions';
  const { strategy, webhook } = conversion;
  const versions = webhook?.conversionReviewVersions ?? [];
  const causes = oneOf(strategy, ['None', 'Webhook'], 'spec.conversion.strategy');
  if (strategy !== 'Webhook') {
    const text = 'should not be set when strategy is not set to Webhook';
    if (webhook?.clientConfig) causes.push(forbidden(client, text));
    if (versions.length > 0) causes.push(forbidden(reviews, text));
    return causes;
  }
  if (!webhook?.clientConfig) causes.push(required(client, 'required when strategy is set to Webhook'));
  else if ((webhook.clientConfig.url === undefined) === (webhook.clientConfig.service === undefined)) {
    causes.push(required(client, 'exactly one of url or service is required'));
  }
  return [...causes, ...validateReviewVersions(versions, reviews)];
};

/** Validates the spec of a CustomResourceDefinition. */

/**
 * What all versions have in common, the real server stores once per definition, and names the fields accordingly: `spec.validation`, not
 * `spec.versions[0].schema`.
 */
interface Shared {
  schema: boolean;
  subresources: boolean;
  additionalPrinterColumns: boolean;
  selectableFields: boolean;
}

const sharedBy = (versions: readonly DefinitionVersion[]): Shared => {
  const alike = (name: keyof Shared): boolean => versions.every((version) => equal(version[name], versions[0]?.[name]));
  return {
    schema: alike('schema'),
    subresources: alike('subresources'),
    additionalPrinterColumns: alike('additionalPrinterColumns'),
    selectableFields: alike('selectableFields'),
  };
};

const ownSchema = (version: DefinitionVersion, path: string): Cause[] => {
  const schema = version.schema?.openAPIV3Schema;
  return schema
    ? definitionSchemaCauses(schema, `${path}.openAPIV3Schema`, version.subresources?.status !== undefined)
    : [];
};

const validateVersion = (version: DefinitionVersion, path: string, shared: Shared): Cause[] => [
  ...dns1035Label(version.name)
    .slice(0, 1)
    .map(() => invalid(`${path}.name`, version.name, dns1035Label(version.name).join(','))),
  ...validateDeprecation(version, `${path}.deprecationWarning`),
  ...(shared.schema ? [] : ownSchema(version, `${path}.schema`)),
  ...(shared.subresources ? [] : validateScale(version.subresources?.scale, `${path}.subresources`)),
  ...(shared.additionalPrinterColumns
    ? []
    : validateColumns(version.additionalPrinterColumns, `${path}.additionalPrinterColumns`)),
  ...(shared.selectableFields
    ? []
    : validateSelectable(version.selectableFields, version.schema?.openAPIV3Schema, `${path}.selectableFields`)),
];

/** Versions as the real server prints its internal type. */
const goVersions = (versions: readonly DefinitionVersion[], shared: Shared): string => {
  const own = (isShared: boolean, value: unknown, shown = goJson(value)): string =>
    isShared || value === undefined ? 'null' : shown;
  const printed = versions.map((version) => {
    const schema = version.schema?.openAPIV3Schema;
    return `{"Name":${goJson(version.name)},"Served":${version.served},"Storage":${version.storage},"Deprecated":${version.deprecated ?? false},"DeprecationWarning":${goJson(version.deprecationWarning)},"Schema":${own(shared.schema, schema, `{"OpenAPIV3Schema":${schema ? goSchema(schema) : 'null'}}`)},"Subresources":${own(shared.subresources, version.subresources)},"AdditionalPrinterColumns":${own(shared.additionalPrinterColumns, version.additionalPrinterColumns)},"SelectableFields":${own(shared.selectableFields, version.selectableFields)}}`;
  });
  return `[${printed.join(',')}]`;
};

const validateVersions = (versions: readonly DefinitionVersion[], shared: Shared): Cause[] => {
  const refused = (detail: string): Cause => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${goVersions(versions, shared)}: ${detail}`,
    field: 'spec.versions',
  });
  const names = versions.map(({ name }) => name);
  const first = names[0] ?? '';
  const problems = first === '' ? [] : dns1035Label(first);
  return [
    ...(new Set(names).size < names.length ? [refused('must contain unique version names')] : []),
    ...(versions.filter(({ storage }) => storage).length === 1
      ? []
      : [refused('must have exactly one version marked as storage version')]),
    ...(problems.length > 0 ? [invalid('spec.version', first, problems.join(','))] : []),
  ];
};

export const validateNames = (names: DefinitionNames, path: string): Cause[] => {
  const label = (value: string | undefined, field: string): Cause[] => {
    const problems = value ? dns1035Label(value) : [];
    return value && problems.length > 0 ? [invalid(field, value, problems.join(','))] : [];
  };
  const kind = (value: string | undefined, field: string): Cause[] => {
    const problems = value ? dns1035Label(value.toLowerCase()) : [];
    const text = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    return value && problems.length > 0 ? [invalid(field, value, text)] : [];
  };
  return [
    ...label(names.plural, `${path}.plural`),
    ...label(names.singular, `${path}.singular`),
    ...kind(names.kind, `${path}.kind`),
    ...kind(names.listKind, `${path}.listKind`),
    ...(names.shortNames ?? []).flatMap((name, index) => label(name, `${path}.shortNames[${index}]`)),
    ...(names.kind && names.kind === names.listKind
      ? [invalid(`${path}.listKind`, names.listKind, 'kind and listKind may not be the same')]
      : []),
    ...(names.categories ?? []).flatMap((name, index) => label(name, `${path}.categories[${index}]`)),
  ];
};

const validateGroup = (group: string | undefined): Cause[] => {
  if (!group) return [required('spec.group')];
  const problems = dnsSubdomain(group);
  if (problems.length > 0) return [invalid('spec.group', group, problems.join(','))];
  return group.includes('.') ? [] : [invalid('spec.group', group, 'should be a domain with at least one dot')];
};

const immutable = (value: Json | undefined, old: Json | undefined, field: string): Cause[] =>
  equal(value, old) ? [] : [invalid(field, value ?? null, 'field is immutable')];

export const validateSpec = ({ spec }: Definition): Cause[] => {
  const { names, versions } = spec;
  const shared = sharedBy(versions);
  const first = versions[0];
  const missing = versions.flatMap((version, index) =>
    version.schema?.openAPIV3Schema ? [] : [required(`spec.versions[${index}].schema.openAPIV3Schema`)],
  );
  return [
    ...validateGroup(spec.group),
    ...oneOf(spec.scope, ['Cluster', 'Namespaced'], 'spec.scope'),
    ...missing,
    ...versions.flatMap((version, index) => validateVersion(version, `spec.versions[${index}]`, shared)),
    ...validateVersions(versions, shared),
    ...(['plural', 'singular', 'kind', 'listKind'] as const)
      .filter((name) => !names[name])
      .map((name) => required(`spec.names.${name}`)),
    ...validateNames(names, 'spec.names'),
    ...(first && shared.schema ? ownSchema(first, 'spec.validation') : []),
    ...(first && shared.subresources ? validateScale(first.subresources?.scale, 'spec.subresources') : []),
    ...(first && shared.additionalPrinterColumns
      ? validateColumns(first.additionalPrinterColumns, 'spec.additionalPrinterColumns')
      : []),
    ...(first && shared.selectableFields
      ? validateSelectable(first.selectableFields, first.schema?.openAPIV3Schema, 'spec.selectableFields')
      : []),
    ...validateConversion(spec.conversion),
  ];
};

/** Immutable fields: group and plural, since the name contains them; once objects may exist, also how they are stored. */
export const validateSpecUpdate = (definition: Definition, old: Definition): Cause[] => {
  const { spec } = definition;
  const isEstablished = old.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True');
  return [
    ...(isEstablished ? immutable(spec.scope, old.spec.scope, 'spec.scope') : []),
    ...(isEstablished ? immutable(spec.names.kind, old.spec.names.kind, 'spec.names.kind') : []),
    ...immutable(spec.group, old.spec.group, 'spec.group'),
    ...immutable(spec.names.plural, old.spec.names.plural, 'spec.names.plural'),
  ];
};
