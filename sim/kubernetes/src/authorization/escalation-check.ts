import type { AdmissionAttributes } from '../admission/admission.ts';
import { masters, type User } from '../authentication/user.ts';
import { forbiddenTo, notFound } from '../errors/api-error.ts';
import { equal, type KubeObject } from '../object.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { fieldsOf, objectsOf, textOf } from '../unstructured.ts';
import type { Attributes, RuleResolver } from './authorizer.ts';
import { type PolicyRule, rulesIn, urlCovers } from './policy-rule.ts';

/** A rule with one verb on one resource or path. */
type Subrule = PolicyRule;

const subrule = (part: Partial<PolicyRule>): Subrule => ({
  verbs: [],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
  ...part,
});

/** The smallest rules that together mean the same, so that each is covered by a single other rule or not at all. */
const breakdownRule = (rule: PolicyRule): Subrule[] => {
  const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name]);
  const things = rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      rule.verbs.flatMap((verb) =>
        names.map((resourceNames) =>
          subrule({ apiGroups: [group], resources: [resource], verbs: [verb], resourceNames }),
        ),
      ),
    ),
  );
  const paths = rule.nonResourceURLs.flatMap((url) =>
    rule.verbs.map((verb) => subrule({ nonResourceURLs: [url], verbs: [verb] })),
  );
  return [...things, ...paths];
};

const all = (held: readonly string[], wanted: readonly string[]): boolean =>
  held.includes('*') || wanted.every((each) => held.includes(each));

const resourcesCover = (held: readonly string[], wanted: readonly string[]): boolean =>
  held.includes('*') ||
  wanted.every((path) => {
    const slash = path.indexOf('/');
    return held.includes(path) || (slash >= 0 && held.includes(`*${path.slice(slash)}`));
  });

const covers = (held: PolicyRule, wanted: Subrule): boolean =>
  all(held.verbs, wanted.verbs) &&
  all(held.apiGroups, wanted.apiGroups) &&
  resourcesCover(held.resources, wanted.resources) &&
  // `*` in resourceNames is a name like any other.
  (held.resourceNames.length === 0 ||
    (wanted.resourceNames.length > 0 && wanted.resourceNames.every((name) => held.resourceNames.includes(name)))) &&
  wanted.nonResourceURLs.every((path) => held.nonResourceURLs.some((pattern) => urlCovers(pattern, path)));

/** The part of `wanted` that `held` does not cover. */
export const missingRules = (held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Subrule[] =>
  wanted.flatMap(breakdownRule).filter((each) => !held.some((rule) => covers(rule, each)));

const quoted = (list: readonly string[]): string => `[${list.map((entry) => JSON.stringify(entry)).join(' ')}]`;

const describe = (rule: PolicyRule): string => {
  const parts: [string, readonly string[]][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const said = parts.filter(([, list]) => list.length > 0).map(([name, list]) => `${name}:${quoted(list)}`);
  return `{${said.join(', ')}}`;
};

/** One line per resource with all missing verbs; paths have one line per verb. */
const describeMissing = (missing: readonly Subrule[]): string[] => {
  const things = new Map<string, PolicyRule>();
  for (const each of missing) {
    const { verbs, nonResourceURLs, ...thing } = each;
    const key = JSON.stringify(nonResourceURLs.length > 0 ? each : thing);
    const known = things.get(key);
    things.set(key, known ? { ...known, verbs: [...known.verbs, ...verbs] } : each);
  }
  return [...new Set([...things.values()].map(describe))].sort();
};

const group = 'rbac.authorization.k8s.io';

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

/** Go's `%q` of a list. */
const goList = (list: readonly string[]): string => `[${list.map((entry) => JSON.stringify(entry)).join(' ')}]`;

interface EscalationCheck {
  write: AdmissionAttributes;
  user: User;
  api: LoopbackClient;
  roles: RuleResolver;
}

const attributes = ({ write, user }: EscalationCheck, verb: string, resource: string, name: string): Attributes => ({
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

/** Users cannot grant rights that they do not have. */
const missingPermissions = (
  { write, user, roles }: EscalationCheck,
  wanted: readonly PolicyRule[],
): string | undefined => {
  const { rules, problems } = roles.rulesFor(user, write.namespace);
  const missing = missingRules(rules, wanted);
  if (missing.length === 0) return undefined;
  const unresolved = problems.length === 0 ? '' : `; resolution errors: [${problems.join(' ')}]`;
  return `user ${JSON.stringify(user.name)} (groups=${goList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${describeMissing(missing).join('\n')}${unresolved}`;
};

const aggregates = (role: KubeObject | undefined): boolean =>
  objectsOf(fieldsOf(role?.['aggregationRule'])['clusterRoleSelectors']).length > 0;

const missingForRole = (asked: EscalationCheck, role: KubeObject): string | undefined => {
  const { write, api } = asked;
  if (api.authorize(attributes(asked, 'escalate', write.resource.plural, write.pathName)).allowed) return undefined;
  const more = missingPermissions(asked, rulesIn(role));
  if (more !== undefined) return more;
  if (!aggregates(role) && !aggregates(write.old)) return undefined;
  return missingPermissions(asked, everything) === undefined
    ? undefined
    : 'must have cluster-admin privileges to use the aggregationRule';
};

const missingForBinding = (asked: EscalationCheck, binding: KubeObject): string | undefined => {
  const { write, api, roles } = asked;
  const { kind, name } = fieldsOf(binding['roleRef']);
  const ref = { kind: textOf(kind), name: textOf(name) };
  // Validation reports the wrong kind later.
  if (ref.kind !== 'ClusterRole' && ref.kind !== 'Role') return undefined;
  if (api.authorize(attributes(asked, 'bind', `${ref.kind.toLowerCase()}s`, ref.name)).allowed) return undefined;
  const rules = roles.rulesOf(ref, write.namespace);
  // The real server too reports the role's name with the binding's kind.
  if (!rules) throw notFound(write.resource, ref.name);
  return missingPermissions(asked, rules);
};

/** Changes of owner references and finalizers, as by the garbage collector, grant nothing. */
const onlyOwnership = (object: KubeObject, old: KubeObject): boolean => {
  const without = ({ metadata, ...rest }: KubeObject) => {
    const { ownerReferences: _owners, finalizers: _finalizers, ...others } = metadata;
    return { ...rest, metadata: others };
  };
  return equal(without(object), without(old));
};

/** To write a role or binding, a user needs every right that it grants, or the verb `escalate` or `bind`. */
export const assertNoEscalation = (write: AdmissionAttributes, user: User, api: LoopbackClient): void => {
  const { resource, object, old, name } = write;
  if (resource.group !== group || object === undefined || !api.ruleResolver || user.groups.includes(masters)) return;
  if (old && onlyOwnership(object, old)) return;
  const asked = { write, user, api, roles: api.ruleResolver };
  const why = resource.plural.endsWith('bindings') ? missingForBinding(asked, object) : missingForRole(asked, object);
  if (why !== undefined) throw forbiddenTo(resource, name, why);
};
