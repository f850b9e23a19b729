import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import fc from 'fast-check';
import { masters, type User } from '../authentication/user.ts';
import { createKubernetes, type Kubernetes } from '../kubernetes.ts';
import type { KubeObject } from '../object.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import type { Attributes } from './authorizer.ts';
import { missingRules } from './escalation-check.ts';
import { type PolicyRule, policyRule, ruleAllows } from './policy-rule.ts';

/** For tests: few words, so that random rules match random requests. */

const words = {
  verbs: ['get', 'list', 'create', '*'],
  groups: ['', 'apps', '*'],
  resources: ['pods', 'pods/log', 'nodes', '*/log', '*', 'pods/*'],
  names: ['a', 'b', '*'],
  urls: ['/a', '/a/b', '/a/*', '/a*', '*', '/*'],
};

const some = (list: readonly string[]): fc.Arbitrary<string[]> =>
  fc.uniqueArray(fc.constantFrom(...list), { minLength: 1, maxLength: 3 });

const none = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };

const anyRule: fc.Arbitrary<PolicyRule> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      verbs: some(words.verbs),
      apiGroups: some(words.groups),
      resources: some(words.resources),
      resourceNames: fc.oneof(fc.constant([]), some(words.names)),
      nonResourceURLs: fc.constant([]),
    }),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ verbs: some(words.verbs), nonResourceURLs: some(words.urls) })
      .map((rule) => ({ ...none, ...rule })),
  },
);

const attributes = (part: Partial<Attributes>): Attributes => ({
  user: { name: 'u', groups: [] },
  verb: 'get',
  group: '',
  version: 'v1',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  fieldSelector: '',
  labelSelector: '',
  ...part,
});

const anyAttributes: fc.Arbitrary<Attributes> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({
        verb: fc.constantFrom('get', 'list', 'create', 'delete'),
        group: fc.constantFrom('', 'apps', 'batch'),
        resource: fc.constantFrom('pods', 'nodes', 'secrets'),
        subresource: fc.constantFrom('', 'log', 'status', '*'),
        name: fc.constantFrom('', 'a', 'b', 'c'),
        namespace: fc.constantFrom('', 'n', 'm'),
      })
      .map(attributes),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        verb: fc.constantFrom('get', 'post'),
        nonResourcePath: fc.constantFrom('/a', '/a/', '/a/b', '/ab', '/', '/b', ''),
      })
      .map(attributes),
  },
);

const group = 'rbac.authorization.k8s.io';
const admin: User = { name: 'admin', groups: [masters] };

/** A naive implementation with regular expressions and without a cache: slow, and unlikely to have the same bugs. */
const pattern = (text: string): RegExp => new RegExp(`^${RegExp.escape(text).replace(/(?:\\\*)+$/, '.*')}$`, 's');

const naivelyAllows = (rule: PolicyRule, asked: Attributes): boolean => {
  const one = (list: readonly string[], value: string): boolean => list.some((each) => each === '*' || each === value);
  if (!one(rule.verbs, asked.verb)) return false;
  if (asked.nonResourcePath !== undefined)
    return rule.nonResourceURLs.some((url) => pattern(url).test(asked.nonResourcePath ?? ''));
  const { resource, subresource } = asked;
  const named = subresource ? [`${resource}/${subresource}`, `*/${subresource}`] : [resource];
  return (
    one(rule.apiGroups, asked.group) &&
    rule.resources.some((each) => each === '*' || named.includes(each)) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(asked.name))
  );
};

type Loose = Record<string, unknown> & { metadata: { name: string; namespace?: string } };

const naively = (api: LoopbackClient, asked: Attributes): boolean => {
  const all = (plural: string): Loose[] => {
    const resource = api.find(group, plural);
    return resource ? api.list(resource, '') : [];
  };
  const bindings = [
    ...all('clusterrolebindings'),
    ...all('rolebindings').filter(({ metadata }) => metadata.namespace === asked.namespace),
  ];
  return bindings.some((binding) => {
    const { namespace = '' } = binding.metadata;
    const subjects = (binding['subjects'] ?? []) as { kind: string; name: string; namespace?: string }[];
    const mine = subjects.some(
      (subject) =>
        (subject.kind === 'User' && subject.name === asked.user.name) ||
        (subject.kind === 'Group' && asked.user.groups.includes(subject.name)) ||
        (subject.kind === 'ServiceAccount' &&
          asked.user.name === `system:serviceaccount:${subject.namespace ?? namespace}:${subject.name}`),
    );
    const ref = binding['roleRef'] as { kind: string; name: string };
    const role = all(ref.kind === 'Role' ? 'roles' : 'clusterroles').find(
      ({ metadata }) => metadata.name === ref.name && (ref.kind !== 'Role' || metadata.namespace === namespace),
    );
    const rules = (role?.['rules'] ?? []) as Record<string, unknown>[];
    return mine && rules.some((rule) => naivelyAllows(policyRule(rule), asked));
  });
};

const users: readonly User[] = [
  { name: 'u', groups: [] },
  { name: 'v', groups: ['g'] },
  { name: 'system:serviceaccount:n:a', groups: ['system:serviceaccounts'] },
  { name: 'system:serviceaccount:m:a', groups: ['system:serviceaccounts', 'g'] },
];
const subject = fc.constantFrom(
  { kind: 'User', name: 'u' },
  { kind: 'Group', name: 'g' },
  { kind: 'Group', name: 'system:serviceaccounts' },
  { kind: 'ServiceAccount', name: 'a', namespace: 'n' },
  { kind: 'ServiceAccount', name: 'a', namespace: 'm' },
);
const where = fc.constantFrom('', 'n', 'm');
const name = fc.constantFrom('x', 'y');

type Step =
  | { do: 'role'; namespace: string; name: string; rules: PolicyRule[] }
  | { do: 'bind'; namespace: string; name: string; to: string; everywhere: boolean; subjects: object[] }
  | { do: 'delete'; namespace: string; name: string; plural: string }
  | { do: 'ask'; asked: Attributes; user: User };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('role' as const), namespace: where, name, rules: fc.array(anyRule, { maxLength: 3 }) }),
  fc.record({
    do: fc.constant('bind' as const),
    namespace: where,
    name,
    to: name,
    everywhere: fc.boolean(),
    subjects: fc.array(subject, { maxLength: 3 }),
  }),
  fc.record({
    do: fc.constant('delete' as const),
    namespace: where,
    name,
    plural: fc.constantFrom('roles', 'rolebindings'),
  }),
  fc.record({ do: fc.constant('ask' as const), asked: anyAttributes, user: fc.constantFrom(...users) }),
  fc.record({ do: fc.constant('ask' as const), asked: anyAttributes, user: fc.constantFrom(...users) }),
);

describe('RBAC under random writes and requests', () => {
  let kubernetes: Kubernetes;
  before(async () => {
    kubernetes = await createKubernetes({ clock: manualClock(), controllers: false });
    const namespaces = kubernetes.api.find('', 'namespaces') ?? assert.fail();
    for (const each of ['n', 'm'])
      kubernetes.api.create(
        namespaces,
        '',
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: each } } as unknown as KubeObject,
        admin,
      );
  });
  after(() => kubernetes.stop());

  const pluralIn = (namespace: string, plural: string): string => (namespace === '' ? `cluster${plural}` : plural);

  const put = (plural: string, namespace: string, body: object): void => {
    const { api } = kubernetes;
    const resource = api.find(group, plural) ?? assert.fail(plural);
    const object = body as KubeObject;
    const old = api.get(resource, namespace, object.metadata.name);
    // The roleRef of a binding is immutable.
    if (old && plural.endsWith('bindings')) api.delete(resource, namespace, object.metadata.name, admin);
    if (old && !plural.endsWith('bindings')) api.update(resource, namespace, object, admin);
    else api.create(resource, namespace, object, admin);
  };

  const tidy = ({ nonResourceURLs, ...rule }: PolicyRule, namespace: string): object =>
    nonResourceURLs.length > 0 && namespace === '' ? { verbs: rule.verbs, nonResourceURLs } : rule;

  const take = (each: Step): void => {
    const { api } = kubernetes;
    const apiVersion = `${group}/v1`;
    switch (each.do) {
      case 'role': {
        const kind = each.namespace === '' ? 'ClusterRole' : 'Role';
        const rules = each.rules
          .filter(({ resources }) => each.namespace === '' || resources.length > 0)
          .map((rule) => tidy(rule, each.namespace));
        put(pluralIn(each.namespace, 'roles'), each.namespace, {
          apiVersion,
          kind,
          metadata: { name: each.name },
          rules,
        });
        return;
      }
      case 'bind': {
        const kind = each.namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
        const to = each.namespace === '' || each.everywhere ? 'ClusterRole' : 'Role';
        const roleRef = { apiGroup: group, kind: to, name: each.to };
        const subjects = each.subjects.map((one) => ({ ...one }));
        put(pluralIn(each.namespace, 'rolebindings'), each.namespace, {
          apiVersion,
          kind,
          metadata: { name: each.name },
          roleRef,
          subjects,
        });
        return;
      }
      case 'delete': {
        const resource = api.find(group, pluralIn(each.namespace, each.plural)) ?? assert.fail();
        if (api.get(resource, each.namespace, each.name)) api.delete(resource, each.namespace, each.name, admin);
        return;
      }
      case 'ask': {
        const asked = { ...each.asked, user: each.user };
        assert.equal(api.authorize(asked).allowed, naively(api, asked), JSON.stringify(asked));
      }
    }
  };

  it('decides like a naive implementation', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 30 }), (steps) => {
        for (const each of steps) take(each);
        for (const user of users)
          for (const namespace of ['', 'n', 'm']) {
            const asked = { ...question, user, namespace };
            assert.equal(kubernetes.api.authorize(asked).allowed, naively(kubernetes.api, asked));
          }
      }),
      { numRuns: 60 },
    );
  });

  const question: Attributes = {
    user: { name: 'u', groups: [] },
    verb: 'get',
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource: '',
    namespace: '',
    name: 'a',
    fieldSelector: '',
    labelSelector: '',
  };
});

describe('rules', () => {
  it('allow what a naive implementation allows', () => {
    fc.assert(
      fc.property(anyRule, anyAttributes, (rule, asked) => {
        assert.equal(ruleAllows(rule, asked), naivelyAllows(rule, asked));
      }),
      { numRuns: 1_000 },
    );
  });

  it('are parsed from any input without an error', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), anyAttributes, (fields, asked) => {
        assert.equal(typeof ruleAllows(policyRule(fields), asked), 'boolean');
      }),
    );
  });

  it('that are covered allow nothing beyond those that cover them', () => {
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 3 }), anyRule, anyAttributes, (held, wanted, asked) => {
        fc.pre(missingRules(held, [wanted]).length === 0);
        if (ruleAllows(wanted, asked)) assert.ok(held.some((rule) => ruleAllows(rule, asked)));
      }),
      { numRuns: 200 },
    );
  });

  it('cover themselves, and are all missing for a user without rules', () => {
    fc.assert(
      fc.property(fc.array(anyRule, { maxLength: 3 }), (rules) => {
        assert.deepEqual(missingRules(rules, rules), []);
        assert.equal(missingRules([], rules).length > 0, rules.length > 0);
      }),
    );
  });
});
