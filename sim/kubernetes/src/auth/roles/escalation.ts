import type { Api } from '../../api/api.ts';
import { fieldsOf, objectsOf, textOf } from '../../kinds/fields.ts';
import { equal, type KubeObject } from '../../object.ts';
import { forbiddenTo, notFound } from '../../status/api-error.ts';
import type { Write } from '../admission.ts';
import type { Attributes, Roles } from '../authorizer.ts';
import { masters, type User } from '../user.ts';
import { describeMissing, missingRules } from './coverage.ts';
import { type PolicyRule, rulesIn } from './policy-rule.ts';

const group = 'rbac.authorization.k8s.io';

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

/** Go's `%q` of a list. */
const goList = (list: readonly string[]): string => `[${list.map((entry) => JSON.stringify(entry)).join(' ')}]`;

interface Asked {
  write: Write;
  user: User;
  api: Api;
  roles: Roles;
}

const attributes = ({ write, user }: Asked, verb: string, resource: string, name: string): Attributes => ({
  user,
  verb,
  group,
  version: '*',
  resource,
  subresource: '',
  namespace: write.namespace,
  name,
  fieldSelector: '',
  labelSelector: '',
});

/** Nobody gives away what they do not have. */
const excess = ({ write, user, roles }: Asked, wanted: readonly PolicyRule[]): string | undefined => {
  const { rules, problems } = roles.rulesFor(user, write.namespace);
  const missing = missingRules(rules, wanted);
  if (missing.length === 0) return undefined;
  const unresolved = problems.length === 0 ? '' : `; resolution errors: [${problems.join(' ')}]`;
  return `user ${JSON.stringify(user.name)} (groups=${goList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${describeMissing(missing).join('\n')}${unresolved}`;
};

const aggregates = (role: KubeObject | undefined): boolean =>
  objectsOf(fieldsOf(role?.['aggregationRule'])['clusterRoleSelectors']).length > 0;

const roleExcess = (asked: Asked, role: KubeObject): string | undefined => {
  const { write, api } = asked;
  if (api.authorize(attributes(asked, 'escalate', write.resource.plural, write.pathName)).allowed) return undefined;
  const more = excess(asked, rulesIn(role));
  if (more !== undefined) return more;
  if (!aggregates(role) && !aggregates(write.old)) return undefined;
  return excess(asked, everything) === undefined
    ? undefined
    : 'must have cluster-admin privileges to use the aggregationRule';
};

const bindingExcess = (asked: Asked, binding: KubeObject): string | undefined => {
  const { write, api, roles } = asked;
  const { kind, name } = fieldsOf(binding['roleRef']);
  const ref = { kind: textOf(kind), name: textOf(name) };
  // Validation will say what is wrong with it.
  if (ref.kind !== 'ClusterRole' && ref.kind !== 'Role') return undefined;
  if (api.authorize(attributes(asked, 'bind', `${ref.kind.toLowerCase()}s`, ref.name)).allowed) return undefined;
  const rules = roles.rulesOf(ref, write.namespace);
  // Of the role, by the name of the binding's kind: so the real server words it.
  if (!rules) throw notFound(write.resource, ref.name);
  return excess(asked, rules);
};

/** What the garbage collector changes gives nobody anything. */
const onlyOwnership = (object: KubeObject, old: KubeObject): boolean => {
  const without = ({ metadata, ...rest }: KubeObject) => {
    const { ownerReferences: _owners, finalizers: _finalizers, ...others } = metadata;
    return { ...rest, metadata: others };
  };
  return equal(without(object), without(old));
};

/** Roles and bindings are written only by those who hold what they grant, or the verbs `escalate` and `bind`. */
export const assertNoEscalation = (write: Write, user: User, api: Api): void => {
  const { resource, object, old, name } = write;
  if (resource.group !== group || object === undefined || !api.roles || user.groups.includes(masters)) return;
  if (old && onlyOwnership(object, old)) return;
  const asked = { write, user, api, roles: api.roles };
  const why = resource.plural.endsWith('bindings') ? bindingExcess(asked, object) : roleExcess(asked, object);
  if (why !== undefined) throw forbiddenTo(resource, name, why);
};
