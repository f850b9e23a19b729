import { mirrorAnnotation } from '../authorization/node-authorizer.ts';
import { podReferences } from '../authorization/pod-references.ts';
import type { KubeObject } from '../object.ts';
import { type Fields, fieldsOf, objectsOf, textOf } from '../unstructured.ts';

const volumesWithoutReferences = [
  'awsElasticBlockStore',
  'azureDisk',
  'cephfs',
  'cinder',
  'downwardAPI',
  'emptyDir',
  'fc',
  'flexVolume',
  'flocker',
  'gcePersistentDisk',
  'gitRepo',
  'hostPath',
  'image',
  'iscsi',
  'nfs',
  'photonPersistentDisk',
  'portworxVolume',
  'quobyte',
  'rbd',
  'scaleIO',
  'storageos',
  'vsphereVolume',
];

const referencesByVolume: Readonly<Record<string, string>> = {
  csi: 'csidrivers (via CSI volumes)',
  glusterfs: 'endpoints (via glusterFS volumes)',
  persistentVolumeClaim: 'persistentvolumeclaims',
  ephemeral: 'persistentvolumeclaims (via ephemeral volumes)',
  azureFile: 'secrets (via azureFile volumes)',
};

const referencesByProjection: Readonly<Record<string, string>> = {
  clusterTrustBundle: 'clustertrustbundles',
  podCertificate: 'podcertificates',
};

const volumeReference = (volume: Fields): string | undefined => {
  if (volumesWithoutReferences.some((kind) => volume[kind] !== undefined)) return undefined;
  const known = Object.entries(referencesByVolume).find(([kind]) => volume[kind] !== undefined);
  if (known) return known[1];
  return objectsOf(fieldsOf(volume['projected'])['sources'])
    .flatMap((source) => Object.entries(referencesByProjection).filter(([kind]) => source[kind] !== undefined))
    .map(([, what]) => what)[0];
};

/**
 * Other references of a Pod that would give its Node access to objects, in the real server's words. References to Secrets, service accounts
 * and their tokens are refused for mirror Pods of every client, in pod-admission.ts.
 */
const podReference = (pod: KubeObject): string | undefined => {
  const spec = fieldsOf(pod['spec']);
  if (podReferences(pod).configMaps.length > 0) return 'configmaps';
  if (objectsOf(spec['resourceClaims']).length > 0) return 'resourceclaims';
  return objectsOf(spec['volumes'])
    .map(volumeReference)
    .find((what) => what !== undefined);
};

/** Why a Node may not create this Pod; undefined if it may. */
export const mirrorPodProblem = (pod: KubeObject, nodeName: string, uidOf: () => string): string | undefined => {
  const node = JSON.stringify(nodeName);
  const { annotations = {}, ownerReferences: owners = [] } = pod.metadata;
  if (!Object.hasOwn(annotations, mirrorAnnotation))
    return `pod does not have "${mirrorAnnotation}" annotation, node ${node} can only create mirror pods`;
  const only = (what: string): string => `node ${node} can only create pods with ${what} set to itself`;
  if (textOf(fieldsOf(pod['spec'])['nodeName']) !== nodeName) return only('spec.nodeName');
  if (owners.length > 1) return only('a single owner reference');
  const [owner] = owners;
  if (!owner || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== nodeName)
    return only('an owner reference');
  if (owner.controller !== true) return only('a controller owner reference');
  if (owner.blockOwnerDeletion === true) return `node ${node} must not set blockOwnerDeletion on an owner reference`;
  const nodeUid = uidOf();
  if (owner.uid !== nodeUid) return `node ${nodeName} UID mismatch: expected ${owner.uid} got ${nodeUid}`;
  const refers = podReference(pod);
  return refers === undefined ? undefined : `node ${node} can not create pods that reference ${refers}`;
};
