import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { environmentOf, expand, type ConfigSource } from './environment.ts';
import { ContainerConfigError, type Container } from './pod.ts';

const stored: ConfigSource = {
  secret: async (name) => (name === 'known' ? { A: 'a', B: 'b' } : undefined),
  configMap: async (name) => (name === 'known' ? { C: 'c' } : undefined),
};
const made = (container: Partial<Container>) =>
  environmentOf({ name: 'main', ...container }, { usual: { HOSTNAME: 'pod' }, field: (path) => `<${path}>`, stored });

describe('the environment of a container', () => {
  for (const [text, expected] of [
    ['$(KNOWN):8080', 'value:8080'],
    ['$(UNKNOWN)', '$(UNKNOWN)'],
    ['$$(KNOWN)', '$(KNOWN)'],
    ['a$b', 'a$b'],
  ] as const)
    test(`${text} is ${expected}`, () => assert.equal(expand(text, { KNOWN: 'value' }), expected));

  test('has variables of all sources, and later ones may reference earlier ones', async () => {
    const env = await made({
      envFrom: [{ secretRef: { name: 'known' } }, { configMapRef: { name: 'absent', optional: true } }],
      env: [
        { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'ADDRESS', value: '$(IP):80' },
        { name: 'B', valueFrom: { configMapKeyRef: { name: 'known', key: 'C' } } },
        { name: 'MAYBE', valueFrom: { secretKeyRef: { name: 'known', key: 'Z', optional: true } } },
      ],
    });
    assert.deepEqual(env, { HOSTNAME: 'pod', A: 'a', B: 'c', IP: '<status.podIP>', ADDRESS: '<status.podIP>:80' });
  });

  test('is an error when a source is missing', async () => {
    await assert.rejects(made({ envFrom: [{ secretRef: { name: 'absent' } }] }), ContainerConfigError);
    const absentKey = { name: 'X', valueFrom: { secretKeyRef: { name: 'known', key: 'Z' } } };
    await assert.rejects(made({ env: [absentKey] }), /couldn't find key Z in secret known/);
  });
});
