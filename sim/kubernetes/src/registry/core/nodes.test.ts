import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { copy, type KubeObject } from '../../object.ts';
import { fieldsOf } from '../../unstructured.ts';
import { admin, type Fixture, fixture, rejection } from '../testing/fixture.ts';

describe('nodes', () => {
  let cluster: Fixture;
  beforeEach(() => {
    cluster = fixture();
  });
  const create = (fields: object = {}): KubeObject => cluster.create('nodes', { metadata: { name: 'mac' }, ...fields });
  const edited = (node: KubeObject, spec: object): KubeObject => ({
    ...node,
    spec: { ...fieldsOf(node['spec']), ...spec },
  });

  describe('a new Node', () => {
    it('gets the not-ready taint', () => {
      assert.deepEqual(create()['spec'], { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] });
    });

    it('gets the not-ready taint only once', () => {
      const taints = [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }];
      assert.deepEqual(create({ spec: { taints } })['spec'], { taints });
    });

    it('keeps its status, and allocatable defaults to capacity', () => {
      const status = fieldsOf(create({ status: { capacity: { cpu: '8', memory: '16384Mi' } } })['status']);
      assert.deepEqual(status['allocatable'], { cpu: '8', memory: '16Gi' });
    });

    it('drops the deprecated configSource', () => {
      assert.equal(fieldsOf(create({ spec: { configSource: {} } })['spec'])['configSource'], undefined);
    });

    const invalid: [string, object, string[]][] = [
      [
        'a taint twice',
        {
          spec: {
            taints: [
              { key: 'a', effect: 'NoSchedule' },
              { key: 'a', value: 'v', effect: 'NoSchedule' },
            ],
          },
        },
        [
          'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"v","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
        ],
      ],
      ['a taint without effect', { spec: { taints: [{ key: 'a' }] } }, ['metadata.taints[0].effect: Required value']],
      [
        'an unknown effect',
        { spec: { taints: [{ key: 'a', effect: 'x' }] } },
        [
          'metadata.taints[0].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
        ],
      ],
      [
        'less than nothing',
        { status: { capacity: { cpu: '-1' }, allocatable: { cpu: '1' } } },
        ['status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0'],
      ],
      [
        'half a machine',
        { status: { capacity: { 'a.b/vm': '500m' }, allocatable: { cpu: '1' } } },
        ['status.capacity.a.b/vm: Invalid value: "500m": must be an integer'],
      ],
      [
        'features out of order',
        { status: { declaredFeatures: ['B', 'A', 'A'] } },
        [
          'status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
          'status.declaredFeatures[2]: Duplicate value: "A"',
        ],
      ],
      [
        'a feature in lower case',
        { status: { declaredFeatures: ['a'] } },
        [
          'status.declaredFeatures[0]: Invalid value: "a": invalid feature name "a": must start with an UpperCamelCase segment, with subsequent segments separated by \'/\' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes',
        ],
      ],
    ];
    for (const [name, fields, causes] of invalid) {
      it(`is invalid with ${name}`, async () =>
        assert.deepEqual(await rejection(() => create(fields)), ['422', ...causes]));
    }
  });

  describe('an existing Node', () => {
    it('can set providerID and podCIDRs only once', async () => {
      const node = cluster.update('nodes', edited(create(), { providerID: 'scaleway://1', podCIDRs: ['10.0.0.0/24'] }));
      assert.equal(fieldsOf(node['spec'])['podCIDR'], '10.0.0.0/24');
      assert.deepEqual(await rejection(() => cluster.update('nodes', edited(node, { providerID: 'scaleway://2' }))), [
        '422',
        'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
      ]);
      assert.deepEqual(await rejection(() => cluster.update('nodes', edited(node, { podCIDR: '10.1.0.0/24' }))), [
        '422',
        'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      ]);
    });

    it('can be cordoned, and is selected by spec.unschedulable', () => {
      const node = cluster.update('nodes', edited(create(), { unschedulable: true }));
      assert.deepEqual(cluster.resource('nodes').strategy.selectableFields(node), { 'spec.unschedulable': 'true' });
      assert.deepEqual(
        fieldsOf(cluster.update('nodes', edited(node, { unschedulable: false, taints: [] }))['spec']),
        {},
      );
    });

    it('reports its status and labels, but not its spec', async () => {
      const node = copy(create());
      node.metadata.labels = { a: 'b' };
      const report = (fields: object): KubeObject =>
        cluster.api.updateStatus(
          cluster.resource('nodes'),
          '',
          { ...edited(node, { unschedulable: true }), ...fields },
          admin,
        );
      const address = { type: 'InternalIP', address: '10.0.0.1' };
      assert.deepEqual(await rejection(() => report({ status: { addresses: [address, address] } })), [
        '422',
        'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"10.0.0.1"}',
      ]);
      const reported = report({ status: { addresses: [address] } });
      assert.deepEqual(
        [reported.metadata.labels, fieldsOf(reported['spec'])['unschedulable']],
        [{ a: 'b' }, undefined],
      );
    });
  });
});
