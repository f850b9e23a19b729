import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { mirrorPodProblem } from '../admission/mirror-pod.ts';
import { forbiddenLabels } from '../admission/node-restriction.ts';
import type { KubeObject } from '../object.ts';
import { podReferences } from './pod-references.ts';

const pod = (spec: unknown): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }) as unknown as KubeObject;

describe('the references of a Pod', () => {
  const secrets: Record<string, object> = {
    'a pull secret': { imagePullSecrets: [{ name: 's' }] },
    'a variable': { containers: [{ env: [{ valueFrom: { secretKeyRef: { name: 's' } } }] }] },
    'variables of an init container': { initContainers: [{ envFrom: [{ secretRef: { name: 's' } }] }] },
    'variables of an ephemeral container': { ephemeralContainers: [{ envFrom: [{ secretRef: { name: 's' } }] }] },
    'a volume': { volumes: [{ secret: { secretName: 's' } }] },
    'a projected volume': { volumes: [{ projected: { sources: [{ secret: { name: 's' } }] } }] },
    'a CSI volume': { volumes: [{ csi: { nodePublishSecretRef: { name: 's' } } }] },
    'a volume of another maker': { volumes: [{ iscsi: { secretRef: { name: 's' } } }] },
    'an Azure file': { volumes: [{ azureFile: { secretName: 's' } }] },
  };
  for (const [what, spec] of Object.entries(secrets))
    it(`a Secret by ${what}`, () => {
      assert.deepEqual(podReferences(pod(spec)), { secrets: ['s'], configMaps: [], serviceAccounts: [] });
    });

  const configMaps: Record<string, object> = {
    'a variable': { containers: [{ env: [{ valueFrom: { configMapKeyRef: { name: 'c' } } }] }] },
    variables: { containers: [{ envFrom: [{ configMapRef: { name: 'c' } }] }] },
    'a volume': { volumes: [{ configMap: { name: 'c' } }] },
    'a projected volume': { volumes: [{ projected: { sources: [{ configMap: { name: 'c' } }] } }] },
  };
  for (const [what, spec] of Object.entries(configMaps))
    it(`a ConfigMap by ${what}`, () => {
      assert.deepEqual(podReferences(pod(spec)), { secrets: [], configMaps: ['c'], serviceAccounts: [] });
    });

  it('are found in any Pod without an error', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (spec) => {
        for (const list of Object.values(podReferences(pod(spec)))) assert.ok(Array.isArray(list));
        assert.equal(typeof mirrorPodProblem(pod(spec), 'mac-1', () => ''), 'string');
      }),
    );
  });
});

describe('labels that a Node may not change', () => {
  const table: [string, boolean][] = [
    ['node-restriction.kubernetes.io/a', true],
    ['x.node-restriction.kubernetes.io/a', true],
    ['kubernetes.io/anything', true],
    ['node-role.kubernetes.io/control-plane', true],
    ['x.k8s.io/a', true],
    ['kubernetes.io/hostname', false],
    ['topology.kubernetes.io/zone', false],
    ['node.kubernetes.io/anything', false],
    ['x.kubelet.kubernetes.io/a', false],
    ['tuist.dev/fleet', false],
    ['mykubernetes.io/a', false],
    ['plain', false],
  ];
  for (const [key, forbidden] of table)
    it(`${key}: ${forbidden ? 'forbidden' : 'free'}`, () => {
      const expected = forbidden ? [key] : [];
      assert.deepEqual(forbiddenLabels({ [key]: 'a' }), expected, 'set');
      assert.deepEqual(forbiddenLabels({ [key]: 'a' }, { [key]: 'b' }), expected, 'changed');
      assert.deepEqual(forbiddenLabels({}, { [key]: 'b' }), expected, 'removed');
      assert.deepEqual(forbiddenLabels({ [key]: 'a' }, { [key]: 'a' }), [], 'left as it is');
    });
});
