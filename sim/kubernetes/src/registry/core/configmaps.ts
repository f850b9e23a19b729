import { type Cause, invalid, tooLong } from '../../errors/field-errors.ts';
import type { KubeObject } from '../../object.ts';
import { plainStrategy, type Strategy } from '../../resource.ts';
import { textsOf } from '../../unstructured.ts';
import { validateKindMetadataUpdate, validateMetadata } from '../validation/metadata.ts';
import { byteLength, configMapKey } from '../validation/names.ts';
import { maxBytes, validateImmutable } from './secrets.ts';

const resource = { group: '', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };

const validateConfigMap = (configMap: KubeObject): Cause[] => {
  const data = textsOf(configMap['data']);
  const binary = textsOf(configMap['binaryData']);
  const keys = (map: Record<string, string>, field: string): Cause[] =>
    Object.keys(map).flatMap((key) => [
      ...configMapKey(key).map((text) => invalid(`${field}[${key}]`, key, text)),
      ...(field === 'data' && Object.hasOwn(binary, key)
        ? [invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')]
        : []),
    ]);
  const size =
    Object.values(data).reduce((sum, value) => sum + byteLength(value), 0) +
    Object.values(binary).reduce((sum, value) => sum + Buffer.from(value, 'base64').length, 0);
  return [
    ...keys(data, 'data'),
    ...keys(binary, 'binaryData'),
    // The real server spells the whole object like this.
    ...(size > maxBytes ? [tooLong('[]', maxBytes)] : []),
  ];
};

export const configMapStrategy: Strategy = {
  ...plainStrategy,
  validate: (configMap, old) =>
    old
      ? [
          ...validateKindMetadataUpdate(configMap, old, resource),
          ...validateImmutable(configMap, old, ['data', 'binaryData']),
          ...validateMetadata(configMap, resource),
          ...validateConfigMap(configMap),
        ]
      : validateConfigMap(configMap),
};
