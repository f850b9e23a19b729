import type { KubeObject, Live, OwnerReference } from '@tartan/kube';
import { coreApiVersion } from './names.ts';

/** A reference that is no controller reference: core sets it on objects of a Cluster, and a MachineSet on a new clone. */
export const ownerReference = (kind: string, { metadata: { name, uid } }: Live<KubeObject>): OwnerReference => ({
  apiVersion: coreApiVersion,
  kind,
  name,
  uid,
});

export const controllerReference = (kind: string, owner: Live<KubeObject>): OwnerReference => ({
  ...ownerReference(kind, owner),
  controller: true,
  blockOwnerDeletion: true,
});

const isCore = ({ apiVersion }: OwnerReference): boolean => apiVersion.startsWith('cluster.x-k8s.io/');

/** Adds this owner, or replaces an older reference to the same object. */
export const withOwner = (object: KubeObject, owner: OwnerReference): OwnerReference[] => {
  const before = object.metadata?.ownerReferences ?? [];
  return before.some(({ uid }) => uid === owner.uid)
    ? before.map((each) => (each.uid === owner.uid ? { ...each, ...owner } : each))
    : [...before, owner];
};

export const withoutOwnersOfKind = (owners: readonly OwnerReference[], kind: string): OwnerReference[] =>
  owners.filter((owner) => !(isCore(owner) && owner.kind === kind));

export const hasOwnerOfKind = ({ metadata }: KubeObject, ...kinds: readonly string[]): boolean =>
  (metadata?.ownerReferences ?? []).some((owner) => isCore(owner) && kinds.includes(owner.kind));
