import type { KubeObject } from '../object.ts';
import { type Fields, fieldsOf, objectsOf, textOf } from '../unstructured.ts';

/** The names of the objects that a Pod references, all in its own namespace. */
export interface PodReferences {
  secrets: string[];
  configMaps: string[];
  /** At most one. */
  serviceAccounts: string[];
}

const nameIn = (value: unknown): string => textOf(fieldsOf(value)['name']);

const containersOf = (spec: Fields): Fields[] =>
  ['containers', 'initContainers', 'ephemeralContainers'].flatMap((key) => objectsOf(spec[key]));

const sourcesOf = (spec: Fields): Fields[] =>
  objectsOf(spec['volumes']).flatMap(({ projected }) => objectsOf(fieldsOf(projected)['sources']));

/** Volume types that take their credentials from a Secret. */
const secretVolumes = ['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'];

const secretsOfVolume = (volume: Fields): string[] => [
  textOf(fieldsOf(volume['secret'])['secretName']),
  textOf(fieldsOf(volume['azureFile'])['secretName']),
  nameIn(fieldsOf(volume['csi'])['nodePublishSecretRef']),
  ...secretVolumes.map((kind) => nameIn(fieldsOf(volume[kind])['secretRef'])),
];

/** `secretRef` and `secretKeyRef`, or the same for ConfigMaps. */
const inEnvironment = (container: Fields, kind: 'secret' | 'configMap'): string[] => [
  ...objectsOf(container['envFrom']).map((from) => nameIn(from[`${kind}Ref`])),
  ...objectsOf(container['env']).map(({ valueFrom }) => nameIn(fieldsOf(valueFrom)[`${kind}KeyRef`])),
];

const named = (names: readonly string[]): string[] => [...new Set(names)].filter((name) => name !== '');

export const podReferences = (pod: KubeObject): PodReferences => {
  const spec = fieldsOf(pod['spec']);
  const [containers, sources] = [containersOf(spec), sourcesOf(spec)];
  return {
    secrets: named([
      ...objectsOf(spec['imagePullSecrets']).map(nameIn),
      ...containers.flatMap((container) => inEnvironment(container, 'secret')),
      ...objectsOf(spec['volumes']).flatMap(secretsOfVolume),
      ...sources.map(({ secret }) => nameIn(secret)),
    ]),
    configMaps: named([
      ...containers.flatMap((container) => inEnvironment(container, 'configMap')),
      ...objectsOf(spec['volumes']).map(({ configMap }) => nameIn(configMap)),
      ...sources.map(({ configMap }) => nameIn(configMap)),
    ]),
    serviceAccounts: named([textOf(spec['serviceAccountName'])]),
  };
};
