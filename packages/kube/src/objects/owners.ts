import { apiVersionOf, type KubeObject, type Live, type OwnerReference } from './object.ts';

/**
 * The reference that makes `owner` the controller of another object: the garbage collector deletes that one with it.
 * Items of a list may come without `kind` and `apiVersion`: then `resource` says them. RangeError when nobody does.
 */
export const controllerReference = (
  owner: Live<KubeObject>,
  resource?: { group: string; version: string; kind: string },
): OwnerReference => {
  const apiVersion = owner.apiVersion ?? (resource && apiVersionOf(resource));
  const kind = owner.kind ?? resource?.kind;
  if (!apiVersion || !kind)
    throw new RangeError(
      `No owner reference can be made to ${owner.metadata.name}: the object says neither apiVersion nor kind. Give its resource, too.`,
    );
  const { name, uid } = owner.metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
};

export const isOwnedBy = (object: KubeObject, uid: string): boolean =>
  object.metadata?.ownerReferences?.some((reference) => reference.uid === uid) ?? false;

export const getControllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata?.ownerReferences?.find((reference) => reference.controller === true);

/**
 * The references with this one in it; the very same array when it is there already. An older reference to the same owner is
 * replaced in its place; those to other owners stay. RangeError when somebody else is the controller: an object has one.
 */
export const withOwnerReference = (
  references: readonly OwnerReference[] | undefined,
  owner: OwnerReference,
): readonly OwnerReference[] => {
  const before = references ?? [];
  const other = before.find(({ controller, uid }) => controller === true && uid !== owner.uid);
  if (owner.controller === true && other !== undefined)
    throw new RangeError(
      `${owner.kind} ${owner.name} cannot become the controller: ${other.kind} ${other.name} is. Remove that owner reference first.`,
    );
  const known = before.find(({ uid }) => uid === owner.uid);
  if (known === undefined) return [...before, owner];
  if (same(known, owner)) return before;
  return before.map((reference) => (reference === known ? owner : reference));
};

const same = (a: OwnerReference, b: OwnerReference): boolean =>
  a.apiVersion === b.apiVersion &&
  a.kind === b.kind &&
  a.name === b.name &&
  (a.controller ?? false) === (b.controller ?? false) &&
  (a.blockOwnerDeletion ?? false) === (b.blockOwnerDeletion ?? false);
