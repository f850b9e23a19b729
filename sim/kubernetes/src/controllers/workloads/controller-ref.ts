import { controllerManager } from '../../authentication/user.ts';
import { copy, type KubeObject, type OwnerReference } from '../../object.ts';
import type { Resource } from '../../resource.ts';
import { type LabelSelector, labelSelectorMatches } from '../../selectors/label-selector.ts';
import type { LoopbackClient } from '../../store/loopback-client.ts';
import { isTerminating } from '../runtime/objects.ts';

export const controllerOf = (object: KubeObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find(({ controller }) => controller === true);

export const controllerRef = (owner: KubeObject): OwnerReference => ({
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
  owner: 'self' | 'none' | 'other';
  ownerDeleting: boolean;
  deleting: boolean;
}

/** Whether an object belongs to an owner: adopt it when it matches and has no owner, release it when it no longer matches. */
export const decideClaim = ({
  matches,
  owner,
  ownerDeleting,
  deleting,
}: ClaimFacts): 'keep' | 'adopt' | 'release' | 'ignore' => {
  if (owner === 'other') return 'ignore';
  if (owner === 'self') {
    if (matches) return 'keep';
    return ownerDeleting ? 'ignore' : 'release';
  }
  return matches && !ownerDeleting && !deleting ? 'adopt' : 'ignore';
};

interface Owner extends KubeObject {
  spec: { selector: LabelSelector };
}

/** All objects of a kind that belong to `owner`, after adopting and releasing. */
export const claim = (api: LoopbackClient, resource: Resource, owner: Owner): KubeObject[] => {
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
      owner: controller === undefined ? 'none' : controller.uid === uid ? 'self' : 'other',
      ownerDeleting: isTerminating(owner),
      deleting: isTerminating(object),
    });
    if (verdict === 'adopt') return [write(object, [...owners, controllerRef(owner)])];
    if (verdict === 'release')
      write(
        object,
        owners.filter((entry) => entry.uid !== uid),
      );
    return verdict === 'keep' ? [object] : [];
  });
};
