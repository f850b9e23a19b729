import { valueSchema } from './fields.ts';
import type { Schema } from './schema.ts';

/**
 * Names of Go's types, which stand in the answer to a body that does not decode. A schema tells all but the names of structs: where
 * it carries one as its title (`v1.PodSpec`) that is used, otherwise the name is guessed from the field.
 */

const structs: Readonly<Record<string, string>> = {
  metadata: 'ObjectMeta',
  ownerReferences: 'OwnerReference',
  managedFields: 'ManagedFieldsEntry',
  template: 'PodTemplateSpec',
  containers: 'Container',
  initContainers: 'Container',
  ephemeralContainers: 'EphemeralContainer',
  env: 'EnvVar',
  envFrom: 'EnvFromSource',
  valueFrom: 'EnvVarSource',
  resources: 'ResourceRequirements',
  selector: 'LabelSelector',
  livenessProbe: 'Probe',
  readinessProbe: 'Probe',
  startupProbe: 'Probe',
  requiredDuringSchedulingIgnoredDuringExecution: 'NodeSelector',
  imagePullSecrets: 'LocalObjectReference',
  rules: 'PolicyRule',
  involvedObject: 'ObjectReference',
  claimRef: 'ObjectReference',
};

const inStruct: Readonly<Record<string, string>> = {
  'PodTemplateSpec.spec': 'PodSpec',
  'JobTemplateSpec.spec': 'JobSpec',
  'CronJobSpec.jobTemplate': 'JobTemplateSpec',
  'Container.ports': 'ContainerPort',
  'Container.securityContext': 'SecurityContext',
  'PodSpec.securityContext': 'PodSecurityContext',
  'ServiceSpec.ports': 'ServicePort',
  'DeploymentSpec.strategy': 'DeploymentStrategy',
  'NodeStatus.addresses': 'NodeAddress',
};

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');

/** The struct behind a field of another one. `kind` is that of the whole object. */
export const structName = (parent: string, field: string, kind: string, schema: Schema): string => {
  if (schema.title !== undefined) return schema.title.slice(schema.title.lastIndexOf('.') + 1);
  const known = inStruct[`${parent}.${field}`] ?? (Object.hasOwn(structs, field) ? structs[field] : undefined);
  if (known !== undefined) return known;
  if (parent === kind && (field === 'spec' || field === 'status')) return `${kind}${capitalized(field)}`;
  if (field === 'conditions') return `${kind}Condition`;
  return capitalized(singular(field));
};

export const isIntOrString = (schema: Schema): boolean => schema.format === 'int-or-string';

/** Quantities are the only strings that may be written as numbers as well. */
export const isQuantity = (schema: Schema): boolean =>
  schema.type === undefined &&
  schema.format === undefined &&
  schema.oneOf?.some(({ type }) => type === 'number') === true;

/** Any JSON at all. */
export const isRaw = (schema: Schema): boolean =>
  schema.type === undefined
    ? !isIntOrString(schema) && !isQuantity(schema)
    : schema.type === 'object' && schema.properties === undefined && schema.additionalProperties === undefined;

export const typeName = (schema: Schema | undefined, struct: string): string => {
  if (!schema) return 'interface {}';
  const { type, format } = schema;
  if (isIntOrString(schema)) return 'int32';
  if (isQuantity(schema)) return 'resource.Quantity';
  if (type === 'string') return format === 'byte' ? '[]uint8' : 'string';
  if (type === 'integer') return format === 'int64' || format === 'int32' ? format : 'int64';
  if (type === 'number') return 'float64';
  if (type === 'boolean') return 'bool';
  if (type === 'array') return `[]${typeName(schema.items, struct)}`;
  const values = valueSchema(schema);
  return values ? `map[string]${typeName(values, struct)}` : (schema.title ?? `v1.${struct}`);
};
