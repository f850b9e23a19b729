import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { GuestConfigError } from '../../guest/guests.ts';
import type { Pod } from '../snapshot.ts';
import { examplePod } from '../testing/example.ts';
import { type ConfigSource, environmentOf, expandReferences, sourcesOf } from './environment.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];

const objects: Record<string, Record<string, string>> = {
  'ConfigMap/settings': { A: 'from settings', B: '$(A)', '1bad': 'x', 'a b': 'x' },
  'Secret/keys': { A: 'from keys', TOKEN: 'secret' },
};
const inputs = { hostIP: '10.0.0.7', dataOf: ({ kind, name }: ConfigSource) => objects[`${kind}/${name}`] };
const pod = examplePod(({ metadata, spec }) => {
  metadata.labels = { 'example.com/a': 'label' };
  if (spec) spec.serviceAccountName = 'runner';
});
const environment = (container: Omit<Container, 'name'>) =>
  environmentOf(pod, { name: 'runner', ...container }, inputs);
const variables = (container: Omit<Container, 'name'>): Record<string, string> =>
  Object.fromEntries(environment(container).variables);
const problem = (container: Omit<Container, 'name'>): string => {
  try {
    environment(container);
  } catch (error) {
    if (error instanceof GuestConfigError) return error.message;
    throw error;
  }
  return assert.fail('there is no problem');
};
const field = (fieldPath: string) => ({ env: [{ name: 'F', valueFrom: { fieldRef: { fieldPath } } }] });

describe('expansion of $(NAME) references', () => {
  // The cases of Kubernetes' documentation and of its expansion package.
  const rows: [string, string][] = [
    ['$(A)', 'a'],
    ['x$(A)y$(B)z', 'xaybz'],
    ['$(NONE)', '$(NONE)'],
    ['$$(A)', '$(A)'],
    ['$$$(A)', '$a'],
    ['$$$$(A)', '$$(A)'],
    ['$$', '$'],
    ['$', '$'],
    ['$A', '$A'],
    ['$(A', '$(A'],
    ['$(A$(B)', '$(A$(B)'],
    ['$()', '$()'],
    ['a)$', 'a)$'],
    ['\n$(A)', '\na'],
    ['$(LOOP)', '$(A)'],
  ];
  const known: Record<string, string> = { A: 'a', B: 'b', LOOP: '$(A)' };
  for (const [text, result] of rows)
    it(`${JSON.stringify(text)} becomes ${JSON.stringify(result)}`, () =>
      assert.equal(
        expandReferences(text, (name) => known[name]),
        result,
      ));
  it('text without a dollar sign is unchanged', () => {
    fc.assert(fc.property(fc.string(), (text) => text.includes('$') || expandReferences(text, () => 'x') === text));
  });
});

describe('the environment of a container', () => {
  it('env overrides envFrom, and later sources override earlier ones', () => {
    const envFrom = [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'keys' } }];
    assert.deepEqual(variables({ envFrom }), { A: 'from keys', B: '$(A)', TOKEN: 'secret' });
    assert.equal(variables({ envFrom, env: [{ name: 'A', value: 'own' }] })['A'], 'own');
  });

  it('the prefix is prepended to every key', () =>
    assert.deepEqual(variables({ envFrom: [{ prefix: 'K_', secretRef: { name: 'keys' } }] }), {
      K_A: 'from keys',
      K_TOKEN: 'secret',
    }));

  it('keys that are invalid variable names are skipped and reported', () => {
    assert.deepEqual(environment({ envFrom: [{ configMapRef: { name: 'settings' } }] }).skipped, ['1bad', 'a b']);
  });

  it('a value may reference earlier variables, not later ones', () =>
    assert.deepEqual(
      variables({
        envFrom: [{ secretRef: { name: 'keys' } }],
        env: [
          { name: 'EARLY', value: '$(LATE)' },
          { name: 'LATE', value: '<$(TOKEN)>' },
          { name: 'A', value: 'new $(A)' },
          { name: 'TWICE', value: '$(A)' },
        ],
      }),
      { A: 'new from keys', TOKEN: 'secret', EARLY: '$(LATE)', LATE: '<secret>', TWICE: 'new from keys' },
    ));

  it('values from ConfigMaps and Secrets are not expanded', () =>
    assert.deepEqual(
      variables({
        env: [
          { name: 'A', value: 'a' },
          { name: 'C', valueFrom: { configMapKeyRef: { name: 'settings', key: 'B' } } },
          { name: 'D', valueFrom: { secretKeyRef: { name: 'keys', key: 'TOKEN' } } },
        ],
      }),
      { A: 'a', C: '$(A)', D: 'secret' },
    ));

  it('a variable without a value is empty', () => assert.deepEqual(variables({ env: [{ name: 'E' }] }), { E: '' }));

  it('a missing optional source is skipped and overrides nothing', () =>
    assert.deepEqual(
      variables({
        envFrom: [{ secretRef: { name: 'none', optional: true } }, { secretRef: { name: 'keys' } }],
        env: [
          { name: 'A', valueFrom: { secretKeyRef: { name: 'none', key: 'k', optional: true } } },
          { name: 'X', valueFrom: { configMapKeyRef: { name: 'settings', key: 'none', optional: true } } },
        ],
      }),
      { A: 'from keys', TOKEN: 'secret' },
    ));

  const missing: [string, Omit<Container, 'name'>, RegExp][] = [
    ['no such Secret', { envFrom: [{ secretRef: { name: 'none' } }] }, /Secret none is not there/],
    ['no such ConfigMap', { envFrom: [{ configMapRef: { name: 'none' } }] }, /ConfigMap none is not there/],
    [
      'no such key',
      { env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 'keys', key: 'none' } } }] },
      /Secret keys has no key none/,
    ],
    [
      'a key of Object.prototype',
      { env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 'keys', key: 'constructor' } } }] },
      /no key constructor/,
    ],
    ['a name with shell characters', { env: [{ name: 'A;reboot', value: '' }] }, /cannot be the name/],
    ['an unknown field was dropped without a word (INC-425)', field('status.podIP'), /status\.podIP/],
    [
      'a resource of the container',
      { env: [{ name: 'X', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }] },
      /resourceFieldRef/,
    ],
  ];
  for (const [sentence, container, message] of missing) it(sentence, () => assert.match(problem(container), message));

  it('an error message contains no value of a Secret', () =>
    assert.doesNotMatch(
      problem({ envFrom: [{ secretRef: { name: 'keys' } }, { secretRef: { name: 'none' } }] }),
      /secret\b.*TOKEN|from keys/,
    ));

  const fields: [string, string][] = [
    ['metadata.name', 'runner-1'],
    ['metadata.namespace', 'runners'],
    ['metadata.uid', 'uid-1'],
    ['spec.nodeName', 'mac-1'],
    ['spec.serviceAccountName', 'runner'],
    ['status.hostIP', '10.0.0.7'],
    ["metadata.labels['example.com/a']", 'label'],
    ["metadata.labels['none']", ''],
    ["metadata.annotations['none']", ''],
  ];
  for (const [path, value] of fields)
    it(`${path} is supported`, () => assert.deepEqual(variables(field(path)), { F: value }));

  it('lists the ConfigMaps and Secrets to read', () =>
    assert.deepEqual(
      sourcesOf({
        name: 'c',
        envFrom: [{ configMapRef: { name: 'a' } }, { secretRef: { name: 'a' } }],
        env: [
          { name: 'X', valueFrom: { secretKeyRef: { name: 'c', key: 'x' } } },
          { name: 'Y', valueFrom: { configMapKeyRef: { name: 'b', key: 'x' } } },
          { name: 'Z', value: '1' },
        ],
      }),
      [
        { kind: 'ConfigMap', name: 'a' },
        { kind: 'Secret', name: 'a' },
        { kind: 'Secret', name: 'c' },
        { kind: 'ConfigMap', name: 'b' },
      ],
    ));
});
