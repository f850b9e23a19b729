import { apiVersionOf, type KubeObject, type Live, type OwnerReference } from './object.ts';

/** Makes `owner` the controller of another object, which the garbage collector then deletes together with the owner. */
export const controllerReference = (
  { metadata: { name, uid } }: Live<KubeObject>,
  resource: { group: string; version: string; kind: string },
): OwnerReference => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});

export const isOwnedBy = (object: KubeObject, uid: string): boolean =>
  object.metadata?.ownerReferences?.some((reference) => reference.uid === uid) ?? false;

export const getControllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata?.ownerReferences?.find((reference) => reference.controller === true);

/** The references plus this one; keeps those to other owners. RangeError when the object has another controller: only one is allowed. */
export const withOwnerReference = (
  references: readonly OwnerReference[] | undefined,
  owner: OwnerReference,
): OwnerReference[] => {
  const others = (references ?? []).filter(({ uid }) => uid !== owner.uid);
  const other = others.find(({ controller }) => controller === true);
  if (owner.controller === true && other !== undefined)
    throw new RangeError(
      `${owner.kind} ${owner.name} cannot become the controller: ${other.kind} ${other.name} is. Remove that owner reference first.`,
    );
  return [...others, owner];
};
