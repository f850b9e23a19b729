import type { User } from '../authentication/user.ts';
import type { KubeObject } from '../object.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { type Fields, fieldsOf, objectsOf, textOf } from '../unstructured.ts';
import type { Authorizer, RoleReference, RuleResolver } from './authorizer.ts';
import { type PolicyRule, ruleAllows, rulesIn } from './policy-rule.ts';

/** A service account without a namespace is in that of the binding. A ClusterRoleBinding has none. */
const accountNamespace = (subject: Fields, bindingNamespace: string): string =>
  textOf(subject['namespace']) || bindingNamespace;

/** Whether a subject of a binding in that namespace ('' for a ClusterRoleBinding) matches this user. */
const subjectMatches = (subject: Fields, bindingNamespace: string, user: User): boolean => {
  const name = textOf(subject['name']);
  switch (subject['kind']) {
    case 'User':
      return user.name === name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount': {
      const namespace = accountNamespace(subject, bindingNamespace);
      return namespace !== '' && user.name === `system:serviceaccount:${namespace}:${name}`;
    }
    default:
      return false;
  }
};

const describeSubject = (subject: Fields, bindingNamespace: string): string => {
  const { kind } = subject;
  const name = textOf(subject['name']);
  const shown = kind === 'ServiceAccount' ? `${name}/${accountNamespace(subject, bindingNamespace)}` : name;
  return `${textOf(kind)} ${JSON.stringify(shown)}`;
};

const group = 'rbac.authorization.k8s.io';

/** A rule, and the binding that grants it. */
interface Grant {
  rule: PolicyRule;
  source: string;
}

interface Grants {
  grants: readonly Grant[];
  /** The grants that contain the verb, in order. Faster: most rules are about other verbs. */
  on(verb: string): readonly Grant[];
  /** Bindings to roles that do not exist. */
  problems: readonly string[];
}

interface RoleCache extends RuleResolver {
  /** What the bindings of one namespace grant to a user; '' for ClusterRoleBindings. */
  grantsIn(user: User, namespace: string): Grants;
  stop(): void;
}

/** Callers choose the user names (impersonation), so the cache needs a limit. */
const rememberedUsers = 1_000;

type Found = Pick<Grants, 'grants' | 'problems'>;

const nothing: Found = { grants: [], problems: [] };

const sorted = ({ grants, problems }: Found): Grants => {
  const speaking = (verb: string): Grant[] =>
    grants.filter(({ rule: { verbs } }) => verbs.includes('*') || verbs.includes(verb));
  const verbs = new Set(grants.flatMap(({ rule }) => rule.verbs));
  const byVerb = new Map([...verbs].map((verb) => [verb, speaking(verb)]));
  const others = speaking('*');
  return { grants, problems, on: (verb) => byVerb.get(verb) ?? others };
};

const userKey = ({ name, groups }: User): string => `${name}\n${groups.join('\n')}`;

/**
 * The rules of each user.
 * Flow: the first question about a user in a namespace reads its bindings and caches the result; a change of roles or bindings invalidates
 * the results that it may affect.
 * Guarantees: an answer is never stale, because changes invalidate the cache within the write.
 */
export const roleCache = (api: LoopbackClient): RoleCache => {
  const resource = (plural: string) => api.find(group, plural);
  const remembered = new Map<string, Map<string, Grants>>();

  const rulesOf = ({ kind, name }: RoleReference, namespace: string): readonly PolicyRule[] | undefined => {
    const everywhere = kind === 'ClusterRole';
    const roles = resource(everywhere ? 'clusterroles' : 'roles');
    const role = roles && api.get(roles, everywhere ? '' : namespace, name);
    return role && rulesIn(role);
  };

  const grantsOf = (binding: KubeObject, namespace: string, user: User): Found => {
    const subject = objectsOf(binding['subjects']).find((each) => subjectMatches(each, namespace, user));
    if (!subject) return nothing;
    const { kind, name } = fieldsOf(binding['roleRef']);
    const ref = { kind: textOf(kind), name: textOf(name) };
    const called = namespace === '' ? binding.metadata.name : `${binding.metadata.name}/${namespace}`;
    const source = `${binding.kind} ${JSON.stringify(called)} of ${ref.kind} ${JSON.stringify(ref.name)} to ${describeSubject(subject, namespace)}`;
    const rules = rulesOf(ref, namespace);
    // In the singular: in the real server the message comes from a cache, not from the API.
    if (!rules) return { grants: [], problems: [`${ref.kind.toLowerCase()}.${group} "${ref.name}" not found`] };
    return { grants: rules.map((rule) => ({ rule, source })), problems: [] };
  };

  const look = (user: User, namespace: string): Grants => {
    const bindings = resource(namespace === '' ? 'clusterrolebindings' : 'rolebindings');
    const found = bindings ? api.list(bindings, namespace).map((each) => grantsOf(each, namespace, user)) : [];
    return sorted({
      grants: found.flatMap(({ grants }) => grants),
      problems: found.flatMap(({ problems }) => problems),
    });
  };

  const grantsIn = (user: User, namespace: string): Grants => {
    const here = remembered.get(namespace) ?? new Map<string, Grants>();
    const key = userKey(user);
    const known = here.get(key);
    if (known) return known;
    const grants = look(user, namespace);
    if (here.size >= rememberedUsers) here.clear();
    if (remembered.size >= rememberedUsers) remembered.clear();
    remembered.set(namespace, here.set(key, grants));
    return grants;
  };

  const forget: Record<string, (namespace: string) => void> = {
    // Bindings of every namespace may reference a ClusterRole.
    clusterroles: () => remembered.clear(),
    clusterrolebindings: () => void remembered.delete(''),
    roles: (namespace) => void remembered.delete(namespace),
    rolebindings: (namespace) => void remembered.delete(namespace),
  };
  const stops = Object.entries(forget).flatMap(([plural, change]) => {
    const found = resource(plural);
    return found
      ? [api.subscribe(found, ({ object, previous }) => change((object ?? previous)?.metadata.namespace ?? ''))]
      : [];
  });

  return {
    grantsIn,
    rulesOf,
    rulesFor: (user, namespace) => {
      const parts = (namespace === '' ? [''] : ['', namespace]).map((each) => grantsIn(user, each));
      return {
        rules: parts.flatMap(({ grants }) => grants.map(({ rule }) => rule)),
        problems: parts.flatMap(({ problems }) => problems),
      };
    },
    stop: () => {
      for (const stop of stops) stop();
    },
  };
};

/** As the real server joins errors: each text once. */
export const joinErrors = (problems: readonly string[]): string => {
  const different = [...new Set(problems)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
};

/** Allows what a bound role grants. Otherwise no opinion, with the missing roles as reason. */
export const rbacAuthorizer =
  (book: RoleCache): Authorizer =>
  (attributes) => {
    const { user, namespace } = attributes;
    const problems: string[] = [];
    for (const where of namespace === '' ? [''] : ['', namespace]) {
      const held = book.grantsIn(user, where);
      for (const { rule, source } of held.on(attributes.verb)) {
        if (ruleAllows(rule, attributes)) return { allowed: true, reason: `RBAC: allowed by ${source}` };
      }
      problems.push(...held.problems);
    }
    return { allowed: false, reason: problems.length === 0 ? '' : `RBAC: ${joinErrors(problems)}` };
  };
