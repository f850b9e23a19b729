import { equal, type Json } from '../object.ts';
import { definitionSchemaCauses } from '../schema/definition-schema.ts';
import { goSchema } from '../schema/go-schema.ts';
import { goJson } from '../schema/go-text.ts';
import { labelProblems } from '../schema/names.ts';
import { type Cause, invalid, required } from '../status/cause.ts';
import type { Definition, Names, Version } from './definition.ts';
import { oneOf, validateConversion } from './definition-conversion.ts';
import { validateColumns, validateDeprecation, validateScale, validateSelectable } from './definition-version.ts';
import { dnsSubdomain } from './names.ts';

/** What is wrong with the spec of a CustomResourceDefinition. */

/**
 * What all versions have alike the real server holds once, for the whole definition, and it names fields accordingly:
 * `spec.validation`, not `spec.versions[0].schema`.
 */
interface Shared {
  schema: boolean;
  subresources: boolean;
  additionalPrinterColumns: boolean;
  selectableFields: boolean;
}

const sharedBy = (versions: readonly Version[]): Shared => {
  const alike = (name: keyof Shared): boolean => versions.every((version) => equal(version[name], versions[0]?.[name]));
  return {
    schema: alike('schema'),
    subresources: alike('subresources'),
    additionalPrinterColumns: alike('additionalPrinterColumns'),
    selectableFields: alike('selectableFields'),
  };
};

const ownSchema = (version: Version, path: string): Cause[] => {
  const schema = version.schema?.openAPIV3Schema;
  return schema
    ? definitionSchemaCauses(schema, `${path}.openAPIV3Schema`, version.subresources?.status !== undefined)
    : [];
};

const validateVersion = (version: Version, path: string, shared: Shared): Cause[] => [
  ...labelProblems(version.name)
    .slice(0, 1)
    .map(() => invalid(`${path}.name`, version.name, labelProblems(version.name).join(','))),
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
const goVersions = (versions: readonly Version[], shared: Shared): string => {
  const own = (isShared: boolean, value: unknown, shown = goJson(value)): string =>
    isShared || value === undefined ? 'null' : shown;
  const printed = versions.map((version) => {
    const schema = version.schema?.openAPIV3Schema;
    return `{"Name":${goJson(version.name)},"Served":${version.served},"Storage":${version.storage},"Deprecated":${version.deprecated ?? false},"DeprecationWarning":${goJson(version.deprecationWarning)},"Schema":${own(shared.schema, schema, `{"OpenAPIV3Schema":${schema ? goSchema(schema) : 'null'}}`)},"Subresources":${own(shared.subresources, version.subresources)},"AdditionalPrinterColumns":${own(shared.additionalPrinterColumns, version.additionalPrinterColumns)},"SelectableFields":${own(shared.selectableFields, version.selectableFields)}}`;
  });
  return `[${printed.join(',')}]`;
};

const validateVersions = (versions: readonly Version[], shared: Shared): Cause[] => {
  const refused = (detail: string): Cause => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${goVersions(versions, shared)}: ${detail}`,
    field: 'spec.versions',
  });
  const names = versions.map(({ name }) => name);
  const first = names[0] ?? '';
  const problems = first === '' ? [] : labelProblems(first);
  return [
    ...(new Set(names).size < names.length ? [refused('must contain unique version names')] : []),
    ...(versions.filter(({ storage }) => storage).length === 1
      ? []
      : [refused('must have exactly one version marked as storage version')]),
    ...(problems.length > 0 ? [invalid('spec.version', first, problems.join(','))] : []),
  ];
};

export const validateNames = (names: Names, path: string): Cause[] => {
  const label = (value: string | undefined, field: string): Cause[] => {
    const problems = value ? labelProblems(value) : [];
    return value && problems.length > 0 ? [invalid(field, value, problems.join(','))] : [];
  };
  const kind = (value: string | undefined, field: string): Cause[] => {
    const problems = value ? labelProblems(value.toLowerCase()) : [];
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

/** What cannot change: the group and plural, since they are the name; and once objects may exist, how they are stored. */
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
