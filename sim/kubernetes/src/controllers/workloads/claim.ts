import type { Api } from '../../api/api.ts';
import { controllerManager } from '../../auth/user.ts';
import { copy, type KubeObject, type OwnerReference } from '../../object.ts';
import type { Resource } from '../../resource.ts';
import { type LabelSelector, labelSelectorMatches } from '../../selectors/labels.ts';
import { isTerminating } from '../shapes.ts';

export const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find(({ controller }) => controller === true);

export const ownedBy = (owner: KubeObject): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name,
  uid: owner.metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

export interface ClaimFacts {
  matches: boolean;
  /** Whose it is. */
  owner: 'us' | 'nobody' | 'another';
  ownerDeleting: boolean;
  deleting: boolean;
}

/** Whether something is an owner's: taken over when it fits and is nobody's, let go when it no longer fits. */
export const decideClaim = ({
  matches,
  owner,
  ownerDeleting,
  deleting,
}: ClaimFacts): 'keep' | 'adopt' | 'release' | 'leave' => {
  if (owner === 'another') return 'leave';
  if (owner === 'us') {
    if (matches) return 'keep';
    return ownerDeleting ? 'leave' : 'release';
  }
  return matches && !ownerDeleting && !deleting ? 'adopt' : 'leave';
};

interface Owner extends KubeObject {
  spec: { selector: LabelSelector };
}

/** Everything of a kind that belongs to `owner` now; what has come to fit or ceased to fit is adopted or released on the way. */
export const claim = (api: Api, resource: Resource, owner: Owner): KubeObject[] => {
  const { namespace = '', uid } = owner.metadata;
  const write = (object: KubeObject, owners: OwnerReference[]): KubeObject => {
    const next = copy(object);
    if (owners.length > 0) next.metadata.ownerReferences = owners;
    else delete next.metadata.ownerReferences;
    return api.update(resource, namespace, next, controllerManager);
  };
  return api.list(resource, namespace).flatMap((object) => {
    const owners = object.metadata.ownerReferences ?? [];
    const controller = controllerOf(object);
    const verdict = decideClaim({
      matches: labelSelectorMatches(owner.spec.selector, object.metadata.labels),
      owner: controller === undefined ? 'nobody' : controller.uid === uid ? 'us' : 'another',
      ownerDeleting: isTerminating(owner),
      deleting: isTerminating(object),
    });
    if (verdict === 'adopt') return [write(object, [...owners, ownedBy(owner)])];
    if (verdict === 'release')
      write(
        object,
        owners.filter((entry) => entry.uid !== uid),
      );
    return verdict === 'keep' ? [object] : [];
  });
};
