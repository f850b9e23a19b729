import { type Cause, duplicate, forbidden, invalid, notSupported, required } from '../../errors/field-errors.ts';
import { isObject, type Json } from '../../object.ts';
import { compareQuantities } from '../../quantity.ts';
import { type Fields, fieldsOf, numberOf, objectsOf, textOf } from '../../unstructured.ts';
import { dnsLabel } from '../validation/names.ts';

const modeText = 'must be a number between 0 and 0777 (octal), both inclusive';
const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

/** The order in which the real server checks the types of a volume. */
const types = `emptyDir hostPath gitRepo gcePersistentDisk awsElasticBlockStore secret nfs iscsi glusterfs flocker
  persistentVolumeClaim rbd cinder cephfs quobyte downwardAPI fc flexVolume configMap azureFile vsphereVolume photonPersistentDisk
  portworxVolume azureDisk storageos projected scaleIO csi ephemeral image`.split(/\s+/);

const validateMode = (mode: unknown, field: string): Cause[] =>
  typeof mode === 'number' && (mode < 0 || mode > 0o777) ? [invalid(field, mode, modeText)] : [];

const hasParentReference = (path: string): boolean => path.split('/').includes('..');

/** A path below the volume's root. */
export const validateDescendingPath = (path: string, field: string): Cause[] => [
  ...(path.startsWith('/') ? [invalid(field, path, 'must be a relative path')] : []),
  ...(hasParentReference(path) ? [invalid(field, path, "must not contain '..'")] : []),
];

const validateFilePath = (path: string, field: string): Cause[] => [
  ...validateDescendingPath(path, field),
  ...(path.startsWith('..') && !path.startsWith('../') ? [invalid(field, path, "must not start with '..'")] : []),
];

const validateItems = (items: unknown, path: string): Cause[] =>
  objectsOf(items).flatMap((item, index) => {
    const at = `${path}[${index}]`;
    return [
      ...(textOf(item['key']) === '' ? [required(`${at}.key`)] : []),
      ...(textOf(item['path']) === '' ? [required(`${at}.path`)] : []),
      ...validateFilePath(textOf(item['path']), `${at}.path`),
      ...validateMode(item['mode'], `${at}.mode`),
    ];
  });

const needs = (source: Fields, path: string, ...keys: string[]): Cause[] =>
  keys.filter((key) => textOf(source[key]) === '').map((key) => required(`${path}.${key}`));

const validateToken = (token: Fields, path: string, volume: string): Cause[] => {
  const seconds = numberOf(token['expirationSeconds']);
  const field = `${path}.expirationSeconds`;
  return [
    ...(seconds < 600 ? [invalid(field, seconds, 'may not specify a duration less than 10 minutes')] : []),
    ...(seconds > 2 ** 32 ? [invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')] : []),
    ...(textOf(token['path']) === ''
      ? [required(`${volume}.path`)]
      : validateFilePath(textOf(token['path']), `${volume}.path`)),
  ];
};

const validateProjections = (projected: Fields, path: string): Cause[] =>
  objectsOf(projected['sources']).flatMap((source, index) => {
    const at = `${path}.sources[${index}]`;
    return [
      ...['secret', 'configMap'].flatMap((key) => {
        const part = source[key];
        return isObject(part)
          ? [...needs(part, `${at}.${key}`, 'name'), ...validateItems(part['items'], `${at}.${key}.items`)]
          : [];
      }),
      ...(isObject(source['serviceAccountToken'])
        ? validateToken(source['serviceAccountToken'], `${at}.serviceAccountToken`, path)
        : []),
      ...(Object.keys(source).length > 1 ? [forbidden(at, 'may not specify more than 1 volume type per source')] : []),
    ];
  });

const validateHostPath = (source: Fields, path: string): Cause[] => {
  const location = textOf(source['path']);
  const type = textOf(source['type']);
  return [
    ...needs(source, path, 'path'),
    ...(hasParentReference(location) ? [invalid(`${path}.path`, location, "must not contain '..'")] : []),
    ...(hostPathTypes.includes(type) ? [] : [notSupported(`${path}.type`, type, hostPathTypes)]),
  ];
};

const rules: Readonly<Record<string, (source: Fields, path: string) => Cause[]>> = {
  emptyDir: (source, path) =>
    compareQuantities(textOf(source['sizeLimit']) || '0', '0') < 0
      ? [forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
      : [],
  hostPath: validateHostPath,
  secret: (source, path) => [
    ...needs(source, path, 'secretName'),
    ...validateMode(source['defaultMode'], `${path}.defaultMode`),
    ...validateItems(source['items'], `${path}.items`),
  ],
  configMap: (source, path) => [
    ...needs(source, path, 'name'),
    ...validateMode(source['defaultMode'], `${path}.defaultMode`),
    ...validateItems(source['items'], `${path}.items`),
  ],
  nfs: (source, path) => [
    ...needs(source, path, 'server', 'path'),
    ...(textOf(source['path']).startsWith('/')
      ? []
      : [invalid(`${path}.path`, textOf(source['path']), 'must be an absolute path')]),
  ],
  persistentVolumeClaim: (source, path) => needs(source, path, 'claimName'),
  downwardAPI: (source, path) => validateMode(source['defaultMode'], `${path}.defaultMode`),
  projected: (source, path) => [
    ...validateMode(source['defaultMode'], `${path}.defaultMode`),
    ...validateProjections(source, path),
  ],
  csi: (source, path) => needs(source, path, 'driver'),
  image: (source, path) => needs(source, path, 'reference'),
};

const validateSource = (volume: Fields, path: string): Cause[] => {
  const given = types.filter((type) => isObject(volume[type]));
  if (given.length === 0) return [required(path, 'must specify a volume type')];
  return given.flatMap((type, index) => {
    const at = `${path}.${type}`;
    return index > 0
      ? [forbidden(at, 'may not specify more than 1 volume type')]
      : (rules[type]?.(fieldsOf(volume[type]), at) ?? []);
  });
};

/** Errors in the volumes, and the names that containers may mount. */
export const validateVolumes = (value: unknown, path: string): { causes: Cause[]; names: Set<string> } => {
  const names = new Set<string>();
  const causes = objectsOf(value).flatMap((volume, index) => {
    const at = `${path}[${index}]`;
    const name = textOf(volume['name']);
    const shown: Json = name;
    const found = [
      ...validateSource(volume, at),
      ...(name === '' ? [required(`${at}.name`)] : dnsLabel(name).map((text) => invalid(`${at}.name`, name, text))),
      ...(names.has(name) ? [duplicate(`${at}.name`, shown)] : []),
    ];
    if (found.length === 0) names.add(name);
    return found;
  });
  return { causes, names };
};
