import type { PolicyRule, PolicyRules } from '@tartan/kube';
import type { KubernetesOptions } from '@tartan/sim-kubernetes';

type Authorize = NonNullable<KubernetesOptions['authorize']>;
type Attributes = Parameters<Authorize>[0];

const covers = (right: PolicyRule, { group, resource, subresource, verb, name }: Attributes): boolean =>
  right.apiGroups.includes(group) &&
  right.resources.includes(subresource === '' ? resource : `${resource}/${subresource}`) &&
  right.verbs.includes(verb) &&
  (right.resourceNames === undefined || right.resourceNames.includes(name));

/** Allows everything, except for the user `provider`, who has these rights. Records denied calls: `list secrets in default`. */
export const authorizeWith = (rights: PolicyRules): { authorize: Authorize; refused: string[] } => {
  const refused: string[] = [];
  return {
    refused,
    authorize: (attributes) => {
      const { user, verb, resource, subresource, namespace } = attributes;
      if (user.name !== 'provider') return { allowed: true, reason: '' };
      const held = [...rights.clusterWide, ...(rights.inNamespace[namespace] ?? [])];
      const allowed = held.some((right) => covers(right, attributes));
      if (!allowed)
        refused.push(`${verb} ${[resource, subresource].filter(Boolean).join('/')} in ${namespace || 'all'}`);
      return { allowed, reason: '' };
    },
  };
};
