import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { fieldsOf } from '../../unstructured.ts';
import { admin, type Body, type Fixture, fixture, namespace, rejection } from '../testing/fixture.ts';
import { bindByObject } from './subresources.ts';

describe('binding', () => {
  const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  const binding = (metadata: object = {}, target: object = { kind: 'Node', name: 'mac' }): Body => ({
    metadata: { name: 'p', ...metadata },
    target,
  });

  let cluster: Fixture;
  beforeEach(() => {
    cluster = fixture();
    cluster.create('pods', {
      metadata: { name: 'p', labels: { a: '1' } },
      spec: { containers: [{ name: 'a', image: 'a' }] },
    });
  });
  const read = () => cluster.api.get(cluster.resource('pods'), namespace, 'p');
  const bind = (body: Body, dryRun = false): Promise<unknown> => cluster.act('pods', 'binding', 'p', body, dryRun);

  describe('binding a Pod', () => {
    it('sets its node, and merges the annotations of the Binding', async () => {
      assert.deepEqual(await bind(binding({ labels: { b: '2' }, annotations: { c: '3' } })), success);
      const pod = read();
      assert.equal(fieldsOf(pod?.['spec'])['nodeName'], 'mac');
      assert.deepEqual(
        [pod?.metadata.labels, pod?.metadata.annotations, pod?.metadata.generation],
        [{ a: '1', b: '2' }, { c: '3' }, 1],
      );
      assert.deepEqual(fieldsOf(pod?.['status'])['conditions'], [
        { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:00Z' },
      ]);
    });

    it('supports dryRun', async () => {
      assert.deepEqual(await bind(binding(), true), success);
      assert.equal(fieldsOf(read()?.['spec'])['nodeName'], undefined);
    });

    it('works through POST bindings too', async () => {
      const object = { apiVersion: 'v1', kind: 'Binding', ...binding({ namespace }) } as never;
      assert.deepEqual(await bindByObject(object, { api: cluster.api, user: admin, dryRun: false }), success);
      assert.equal(fieldsOf(read()?.['spec'])['nodeName'], 'mac');
    });

    it('is possible only once', async () => {
      await bind(binding());
      assert.deepEqual(await rejection(() => bind(binding())), [
        '409',
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "mac"',
      ]);
    });

    it('is refused while there are scheduling gates', async () => {
      cluster.create('pods', {
        metadata: { name: 'g' },
        spec: { schedulingGates: [{ name: 'x' }], containers: [{ name: 'a', image: 'a' }] },
      });
      assert.deepEqual(await rejection(() => cluster.act('pods', 'binding', 'g', binding({ name: 'g' }))), [
        '409',
        'Operation cannot be fulfilled on pods/binding "g": pod g has non-empty .spec.schedulingGates',
      ]);
    });

    it('is refused for a terminating Pod', async () => {
      cluster.create('pods', {
        metadata: { name: 'd', finalizers: ['a.b/c'] },
        spec: { containers: [{ name: 'a', image: 'a' }] },
      });
      cluster.api.delete(cluster.resource('pods'), namespace, 'd', admin);
      assert.deepEqual(await rejection(() => cluster.act('pods', 'binding', 'd', binding({ name: 'd' }))), [
        '409',
        'Operation cannot be fulfilled on pods/binding "d": pod d is being deleted, cannot be assigned to a host',
      ]);
    });

    const key = `/registry/pods/${namespace}/p`;
    const refusals: [string, Body, string[]][] = [
      ['another name', binding({ name: 'q' }), ['400', 'name in URL does not match name in Binding object']],
      [
        'another namespace',
        binding({ namespace: 'other' }),
        ['400', 'the namespace of the provided object does not match the namespace sent on the request'],
      ],
      [
        'no node',
        binding({}, { kind: 'Pod' }),
        [
          '500',
          '[target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", target.name: Required value]',
        ],
      ],
      [
        'another UID',
        binding({ uid: 'x' }),
        [
          '409',
          `Operation cannot be fulfilled on pods "p": StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: x, UID in object meta: uid-3`,
        ],
      ],
      [
        'another version',
        binding({ resourceVersion: '1' }),
        [
          '409',
          `Operation cannot be fulfilled on pods "p": StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in object meta: 4`,
        ],
      ],
    ];
    for (const [name, body, expected] of refusals) {
      it(`is refused for ${name}`, async () => assert.deepEqual(await rejection(() => bind(body)), expected));
    }

    it('needs an existing Pod', async () => {
      assert.deepEqual(await rejection(() => cluster.act('pods', 'binding', 'q', binding({ name: 'q' }))), [
        '404',
        'pods "q" not found',
      ]);
    });
  });
});
