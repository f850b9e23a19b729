import { type Cause, invalid, notSupported, required } from '../../errors/field-errors.ts';
import { isObject } from '../../object.ts';
import { type Fields, fieldsOf, objectsOf, textOf } from '../../unstructured.ts';
import { asPrefix, configMapKey, dnsSubdomain, environmentName, qualifiedName } from '../validation/names.ts';

const fieldPaths = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** Known to the downward API, but not all allowed in an environment. */
const knownPaths = [
  ...fieldPaths,
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
  'spec.host',
];

const resourceFields = ['limits', 'requests'].flatMap((list) =>
  ['cpu', 'ephemeral-storage', 'memory'].map((name) => `${list}.${name}`),
);

const validateFieldRef = (fieldRef: Fields, path: string, supported: readonly string[] = fieldPaths): Cause[] => {
  const fieldPath = textOf(fieldRef['fieldPath']);
  if (fieldPath === '') return [required(`${path}.fieldPath`)];
  const subscript = /^(.+)\['(.*)'\]$/.exec(fieldPath);
  if (!knownPaths.includes(subscript?.[1] ?? fieldPath)) {
    return [
      invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: field label not supported: ${fieldPath}`),
    ];
  }
  if (!subscript) {
    return supported.includes(fieldPath) ? [] : [notSupported(`${path}.fieldPath`, fieldPath, [...supported].sort())];
  }
  const [, base = '', key = ''] = subscript;
  if (base === 'metadata.annotations')
    return qualifiedName(key.toLowerCase()).map((text) => invalid(path, key.toLowerCase(), text));
  if (base === 'metadata.labels') return qualifiedName(key).map((text) => invalid(path, key, text));
  return [invalid(path, base, 'does not support subscript')];
};

const validateKeyRef = (reference: Fields, path: string): Cause[] => {
  const name = textOf(reference['name']);
  const key = textOf(reference['key']);
  return [
    ...dnsSubdomain(name).map((text) => invalid(`${path}.name`, name, text)),
    ...(key === '' ? [required(`${path}.key`)] : configMapKey(key).map((text) => invalid(`${path}.key`, key, text))),
  ];
};

const validateResourceFieldRef = (reference: Fields, path: string): Cause[] => {
  const resource = textOf(reference['resource']);
  if (resource === '') return [required(`${path}.resource`)];
  const known = resourceFields.includes(resource) || /^(requests|limits)\.hugepages-/.test(resource);
  return known ? [] : [notSupported(`${path}.resource`, resource, resourceFields)];
};

const validateSource = (variable: Fields, path: string): Cause[] => {
  const source = variable['valueFrom'];
  if (!isObject(source)) return [];
  const given = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'].filter((key) =>
    isObject(source[key]),
  );
  const causes = given.flatMap((key) => {
    const reference = fieldsOf(source[key]);
    if (key === 'fieldRef') return validateFieldRef(reference, `${path}.${key}`);
    if (key === 'resourceFieldRef') return validateResourceFieldRef(reference, `${path}.${key}`);
    return key === 'fileKeyRef' ? [] : validateKeyRef(reference, `${path}.${key}`);
  });
  if (given.length === 0) {
    const all = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    return [...causes, invalid(path, '', `must specify one of: ${all}`)];
  }
  if (textOf(variable['value']) !== '')
    return [...causes, invalid(path, '', 'may not be specified when `value` is not empty')];
  return given.length > 1
    ? [...causes, invalid(path, '', 'may not have more than one field specified at a time')]
    : causes;
};

export const validateEnvironment = (variables: unknown, path: string): Cause[] =>
  objectsOf(variables).flatMap((variable, index) => {
    const at = `${path}[${index}]`;
    const name = textOf(variable['name']);
    return [
      ...(name === ''
        ? [required(`${at}.name`)]
        : environmentName(name).map((text) => invalid(`${at}.name`, name, text))),
      ...validateSource(variable, `${at}.valueFrom`),
    ];
  });

const validateEnvironmentSource = (source: unknown, path: string): Cause[] => {
  if (!isObject(source)) return [];
  const name = textOf(source['name']);
  if (name === '') return [required(`${path}.name`)];
  return dnsSubdomain(asPrefix(name)).map((text) => invalid(`${path}.name`, name, text));
};

export const validateEnvironmentFrom = (sources: unknown, path: string): Cause[] =>
  objectsOf(sources).flatMap((source, index) => {
    const at = `${path}[${index}]`;
    const prefix = textOf(source['prefix']);
    const given = ['configMapRef', 'secretRef'].filter((key) => isObject(source[key]));
    return [
      ...environmentName(prefix).map((text) => invalid(`${at}.prefix`, prefix, text)),
      ...given.flatMap((key) => validateEnvironmentSource(source[key], `${at}.${key}`)),
      ...(given.length === 0 ? [invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`')] : []),
      ...(given.length > 1 ? [invalid(path, '', 'may not have more than one field specified at a time')] : []),
    ];
  });
