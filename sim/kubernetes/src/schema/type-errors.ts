import { goNumber, goValue } from '../go/fmt.ts';
import { canonicalMicroTime, canonicalTime, TimeError } from '../go/time.ts';
import { isObject } from '../object.ts';
import { quantityFormatError, readQuantity } from '../quantity.ts';
import { childPath, indexPath, keyPath } from './field-path.ts';
import { objectMetaSchema } from './object-meta.ts';
import { propertySchema, type Schema, valueSchema } from './schema.ts';

/**
 * Names of Go types, which appear in decoding errors. A schema has everything but the names of structs: its title (`v1.PodSpec`) is used if
 * there is one, otherwise the name is guessed from the field.
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

/** The struct name of a field of another struct. `kind` is that of the whole object. */
const structName = (parent: string, field: string, kind: string, schema: Schema): string => {
  if (schema.title !== undefined) return schema.title.slice(schema.title.lastIndexOf('.') + 1);
  const known = inStruct[`${parent}.${field}`] ?? (Object.hasOwn(structs, field) ? structs[field] : undefined);
  if (known !== undefined) return known;
  if (parent === kind && (field === 'spec' || field === 'status')) return `${kind}${capitalized(field)}`;
  if (field === 'conditions') return `${kind}Condition`;
  return capitalized(singular(field));
};

const isIntOrString = (schema: Schema): boolean => schema.format === 'int-or-string';

/** Quantities are the only strings that may also be numbers. */
const isQuantity = (schema: Schema): boolean =>
  schema.type === undefined &&
  schema.format === undefined &&
  schema.oneOf?.some(({ type }) => type === 'number') === true;

/** Accepts any JSON. */
const isRaw = (schema: Schema): boolean =>
  schema.type === undefined
    ? !isIntOrString(schema) && !isQuantity(schema)
    : schema.type === 'object' && schema.properties === undefined && schema.additionalProperties === undefined;

const typeName = (schema: Schema | undefined, struct: string): string => {
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

/** The position of the decoder: `path` without indexes and keys, as Go names fields. */
interface DecodePlace {
  kind: string;
  struct: string;
  path: string;
  /** Name of the last field, and its struct. */
  field: string;
  own: string;
}

/** Fields of type MicroTime; the schema does not distinguish them from Time. */
const microTimes = new Set(['acquireTime', 'renewTime', 'eventTime', 'lastObservedTime']);

const valueName = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
};

const mismatch = (value: unknown, schema: Schema, place: DecodePlace): string => {
  const number = typeof value === 'number' && (schema.type === 'integer' || isIntOrString(schema));
  const shown = number ? `number ${goNumber(value)}` : valueName(value);
  const target = place.path === '' ? 'value' : `struct field ${place.struct}.${place.path}`;
  return `json: cannot unmarshal ${shown} into Go ${target} of type ${typeName(schema, place.own)}`;
};

const quantityProblem = (value: unknown): string | undefined => {
  if (typeof value === 'number' || (typeof value === 'string' && (value === '' || readQuantity(value))))
    return undefined;
  return quantityFormatError;
};

const base64Problem = (value: string): string | undefined => {
  const text = value.replaceAll(/[\r\n]/g, '');
  const wrong = /[^A-Za-z0-9+/=]/.exec(text)?.index ?? (text.length % 4 === 0 ? undefined : text.length);
  return wrong === undefined ? undefined : `illegal base64 data at input byte ${wrong}`;
};

const timeProblem = (value: string, field: string): string | undefined => {
  try {
    (microTimes.has(field) ? canonicalMicroTime : canonicalTime)(value);
    return undefined;
  } catch (error) {
    if (error instanceof TimeError) return error.message;
    throw error;
  }
};

const stringProblem = (value: unknown, schema: Schema, place: DecodePlace): string | undefined => {
  if (typeof value !== 'string') return mismatch(value, schema, place);
  if (schema.format === 'byte') return base64Problem(value);
  return schema.format === 'date-time' ? timeProblem(value, place.field) : undefined;
};

const fitsInteger = (value: unknown, format: string | undefined): boolean => {
  if (typeof value !== 'number' || !Number.isInteger(value)) return false;
  const limit = format === 'int32' ? 2 ** 31 : 2 ** 63;
  return value >= -limit && value < limit;
};

const objectProblem = (value: unknown, schema: Schema, place: DecodePlace): string | undefined => {
  if (!isObject(value)) return mismatch(value, schema, place);
  const values = valueSchema(schema);
  for (const [key, child] of Object.entries(value)) {
    const named = propertySchema(schema, key);
    const problem = named
      ? problemOf(child, named, inField(place, key, named))
      : values && problemOf(child, values, place);
    if (problem) return problem;
  }
  return undefined;
};

const inField = (place: DecodePlace, field: string, schema: Schema): DecodePlace => ({
  kind: place.kind,
  struct: place.own,
  path: place.path === '' ? field : `${place.path}.${field}`,
  field,
  own: structName(place.own, field, place.kind, schema.items ?? valueSchema(schema) ?? schema),
});

const problemOf = (value: unknown, schema: Schema | undefined, place: DecodePlace): string | undefined => {
  if (!schema || value === null || value === undefined || isRaw(schema)) return undefined;
  if (isQuantity(schema)) return quantityProblem(value);
  if (isIntOrString(schema)) {
    return typeof value === 'string' || fitsInteger(value, 'int32') ? undefined : mismatch(value, schema, place);
  }
  switch (schema.type) {
    case 'string':
      return stringProblem(value, schema, place);
    case 'integer':
      return fitsInteger(value, schema.format) ? undefined : mismatch(value, schema, place);
    case 'number':
      return typeof value === 'number' ? undefined : mismatch(value, schema, place);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : mismatch(value, schema, place);
    case 'array':
      if (!Array.isArray(value)) return mismatch(value, schema, place);
      for (const item of value) {
        const problem = problemOf(item, schema.items, place);
        if (problem) return problem;
      }
      return undefined;
    case 'object':
    case undefined:
    default:
      return objectProblem(value, schema, place);
  }
};

/**
 * The first value of a wrong type in a body of a built-in kind, in the words of Go's decoder (400 BadRequest). The real server prefixes it
 * with `Pod in version "v1" cannot be handled as a Pod: `.
 */
export const builtinTypeError = (object: unknown, schema: Schema): string | undefined => {
  if (!isObject(object)) return undefined;
  const kind = typeof object['kind'] === 'string' ? object['kind'] : '';
  return objectProblem(object, schema, { kind, struct: '', path: '', field: '', own: kind });
};

const metadataProblem = (metadata: unknown): string | undefined =>
  problemOf(metadata, objectMetaSchema, { kind: '', struct: 'ObjectMeta', path: '', field: '', own: 'ObjectMeta' });

const embeddedProblem = (value: unknown, schema: Schema | undefined, path: string): string | undefined => {
  if (!schema) return undefined;
  if (Array.isArray(value))
    return firstError(value.map((item, index) => () => embeddedProblem(item, schema.items, indexPath(path, index))));
  if (!isObject(value)) return undefined;
  const own = path !== '' && schema['x-kubernetes-embedded-resource'] ? resourceProblem(value, path) : undefined;
  const children = Object.entries(value).map(([key, field]) => () => {
    const named = propertySchema(schema, key);
    return named
      ? embeddedProblem(field, named, childPath(path, key))
      : embeddedProblem(field, valueSchema(schema), keyPath(path, key));
  });
  return own ?? firstError(children);
};

const firstError = (attempts: readonly (() => string | undefined)[]): string | undefined => {
  for (const attempt of attempts) {
    const problem = attempt();
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const resourceProblem = (value: Record<string, unknown>, path: string): string | undefined => {
  for (const name of ['apiVersion', 'kind']) {
    const given = value[name];
    if (Object.hasOwn(value, name) && typeof given !== 'string') {
      return `${childPath(path, name)}: Invalid value: ${goValue(given)}: must be a string`;
    }
  }
  const problem = metadataProblem(value['metadata']);
  return problem && `${childPath(path, 'metadata')}: Invalid value: ${goValue(value['metadata'])}: ${problem}`;
};

/** The same for a custom resource, of which Go decodes only metadata into a type: its own and that of embedded resources. */
export const customTypeError = (object: unknown, schema: Schema): string | undefined =>
  isObject(object) ? (metadataProblem(object['metadata']) ?? embeddedProblem(object, schema, '')) : undefined;
