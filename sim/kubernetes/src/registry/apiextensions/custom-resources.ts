import { forbiddenTo } from '../../errors/api-error.ts';
import { type Cause, invalid } from '../../errors/field-errors.ts';
import { schemaOf } from '../../generated/catalogue.ts';
import { copy, isObject, type KubeObject } from '../../object.ts';
import { customColumns } from '../../printers/custom-columns.ts';
import { plainStrategy, type Resource, type Strategy, type Subresource } from '../../resource.ts';
import { applySchemaDefaults } from '../../schema/defaulting.ts';
import { prune } from '../../schema/pruning.ts';
import type { Schema } from '../../schema/schema.ts';
import { validateObject, validateObjectStatus } from '../../schema/validation/custom-resource.ts';
import { conditionOf, type Definition, definitionOf, type DefinitionVersion } from './definition.ts';
import { scaleColumns, scaleView, validateScaleSpec, validateScaleStatus } from './scale.ts';

/** As discovery lists them. */
const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const viewVerbs = ['get', 'patch', 'update'];

const typeCauses = (object: KubeObject, kind: string, apiVersion: string): Cause[] => [
  ...(object.kind === kind ? [] : [invalid('kind', object.kind, `must be ${kind}`)]),
  ...(object.apiVersion === apiVersion ? [] : [invalid('apiVersion', object.apiVersion, `must be ${apiVersion}`)]),
];

const valueAt = (object: KubeObject, path: string): unknown =>
  path
    .replace(/^\./, '')
    .split('.')
    .reduce<unknown>(
      (value, step) => (isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined),
      object,
    );

const selectable = (version: DefinitionVersion): Strategy['selectableFields'] => {
  const paths = version.selectableFields ?? [];
  return (object) =>
    Object.fromEntries(
      paths.map(({ jsonPath }) => {
        const value = valueAt(object, jsonPath);
        return [
          jsonPath.replace(/^\./, ''),
          typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value),
        ];
      }),
    );
};

const strategyOf = (definition: Definition, version: DefinitionVersion, schema: Schema): Strategy => {
  const { group, names } = definition.spec;
  const apiVersion = `${group}/${version.name}`;
  const paths = version.subresources?.scale;
  const subject = { group, plural: names.plural, kind: names.kind };
  return {
    ...plainStrategy,
    hasStatus: version.subresources?.status !== undefined,
    hasGeneration: true,
    allowUnconditionalUpdate: false,
    applyDefaults: (object) => {
      prune(object, schema);
      applySchemaDefaults(object, schema);
    },
    prepareForCreate: (object) => {
      if (definition.metadata.deletionTimestamp) {
        throw forbiddenTo(
          subject,
          object.metadata.name,
          'create not allowed while custom resource definition is terminating',
        );
      }
      if (version.subresources?.status) delete object['status'];
    },
    validate: (object, old) => {
      const types = typeCauses(object, names.kind, apiVersion);
      if (types.length > 0) return types;
      const scale = paths ? [...validateScaleSpec(object, paths), ...validateScaleStatus(object, paths)] : [];
      return validateObject(object, schema, old, scale);
    },
    validateStatus: (object, old) => {
      const types = typeCauses(object, names.kind, apiVersion);
      return types.length > 0
        ? types
        : validateObjectStatus(object, schema, old, paths ? validateScaleStatus(object, paths) : []);
    },
    selectableFields: selectable(version),
    columns: customColumns(version.additionalPrinterColumns),
  };
};

const subresourcesOf = (definition: Definition, version: DefinitionVersion, strategy: Strategy): Subresource[] => {
  const { group, names } = definition.spec;
  const { status, scale } = version.subresources ?? {};
  const result: Subresource[] = [];
  if (status) result.push({ name: 'status', group, version: version.name, kind: names.kind, verbs: viewVerbs });
  if (scale) {
    const view = scaleView(scale, schemaOf('autoscaling', 'v1', 'Scale'), (object, old, context) =>
      strategy.validate(object, old, context),
    );
    result.push({
      name: 'scale',
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: viewVerbs,
      view,
      columns: scaleColumns,
    });
  }
  return result;
};

const resourceOf = (definition: Definition, version: DefinitionVersion): Resource => {
  const { group, scope } = definition.spec;
  const names = definition.status?.acceptedNames ?? definition.spec.names;
  const schema = version.schema?.openAPIV3Schema ?? {};
  const strategy = strategyOf(definition, version, schema);
  const storage = definition.spec.versions.find(({ storage }) => storage)?.name ?? version.name;
  return {
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    verbs,
    custom: true,
    schema,
    strategy,
    subresources: subresourcesOf(definition, version, strategy),
    prefix: `${group}/${names.plural}/`,
    toStored: (object) => ({ ...object, apiVersion: `${group}/${storage}` }),
    // The current schema applies to objects that were stored under an older one: defaults are added, removed fields pruned.
    fromStored: (stored) => {
      const object = copy({ ...stored, apiVersion: `${group}/${version.name}` });
      strategy.applyDefaults(object);
      return object;
    },
  };
};

/** The resources that a CustomResourceDefinition adds: one for each served version, once its names are accepted. */
export const resourcesOf = (crd: KubeObject): Resource[] => {
  const definition = definitionOf(crd);
  if (conditionOf(definition, 'Established')?.status !== 'True') return [];
  return definition.spec.versions.filter(({ served }) => served).map((version) => resourceOf(definition, version));
};
