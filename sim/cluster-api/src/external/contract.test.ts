import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contractOf, pluralize } from './contract.ts';

describe('the contract version of a definition', () => {
  const v1beta2 = 'cluster.x-k8s.io/v1beta2';
  const v1beta1 = 'cluster.x-k8s.io/v1beta1';
  const table: [string, Record<string, string> | undefined, ReturnType<typeof contractOf>][] = [
    [
      'the newer of two',
      { [v1beta1]: 'v1alpha1', [v1beta2]: 'v1alpha1' },
      { contract: 'v1beta2', version: 'v1alpha1' },
    ],
    ['the only one', { [v1beta1]: 'v1' }, { contract: 'v1beta1', version: 'v1' }],
    ['none', { 'cluster.x-k8s.io/provider': 'x' }, undefined],
    ['no labels', undefined, undefined],
    [
      'the best of its versions',
      { [v1beta2]: 'v1beta1_v1alpha3_v1beta2' },
      { contract: 'v1beta2', version: 'v1beta2' },
    ],
    ['a stable one before all others', { [v1beta2]: 'v2alpha1_v1_v1beta9' }, { contract: 'v1beta2', version: 'v1' }],
  ];
  for (const [name, labels, found] of table)
    it(name, () => {
      assert.deepEqual(contractOf(labels), found);
    });
});

describe('the plural of a kind', () => {
  for (const [kind, plural] of [
    ['ScalewayAppleSiliconMachine', 'scalewayapplesiliconmachines'],
    ['ScalewayAppleSiliconMachineTemplate', 'scalewayapplesiliconmachinetemplates'],
    ['ExternalControlPlane', 'externalcontrolplanes'],
    ['HostPolicy', 'hostpolicies'],
    ['Relay', 'relays'],
    ['Box', 'boxes'],
    ['Switch', 'switches'],
  ] as const)
    it(`${kind} becomes ${plural}`, () => {
      assert.equal(pluralize(kind), plural);
    });
});
