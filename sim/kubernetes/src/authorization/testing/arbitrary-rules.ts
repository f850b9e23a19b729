import fc from 'fast-check';
import type { Attributes } from '../authorizer.ts';
import type { PolicyRule } from '../policy-rule.ts';

/** For tests: few words, so that random rules and random questions meet. */

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

export const anyRule: fc.Arbitrary<PolicyRule> = fc.oneof(
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

export const anyAttributes: fc.Arbitrary<Attributes> = fc.oneof(
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
