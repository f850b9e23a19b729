import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { KubeObject } from '../../object.ts';
import { fieldsOf } from '../../unstructured.ts';
import { admin, type Fixture, fixture, rejection } from '../testing/fixture.ts';
import { namespaceHasFinalizers } from './namespaces.ts';

describe('namespaces', () => {
  let cluster: Fixture;
  beforeEach(() => {
    cluster = fixture();
  });
  const create = (fields: object = {}, name = 'n'): KubeObject =>
    cluster.create('namespaces', { metadata: { name }, ...fields });
  const remove = (name: string): KubeObject | undefined =>
    cluster.api.delete(cluster.resource('namespaces'), '', name, admin);
  const finalize = (namespace: KubeObject, finalizers: string[], metadata: object = {}): KubeObject =>
    cluster.api.updateSubresource(
      cluster.resource('namespaces'),
      'finalize',
      '',
      { ...namespace, metadata: { ...namespace.metadata, ...metadata }, spec: { finalizers }, status: { phase: 'x' } },
      admin,
    );

  describe('a namespace', () => {
    it('is Active, labelled with its name, and has the finalizer kubernetes', () => {
      const made = create({ spec: { finalizers: ['a.b/c'] }, status: { phase: 'Terminating' } });
      assert.deepEqual(made.metadata.labels, { 'kubernetes.io/metadata.name': 'n' });
      assert.deepEqual([made['spec'], made['status']], [{ finalizers: ['a.b/c', 'kubernetes'] }, { phase: 'Active' }]);
      assert.equal(namespaceHasFinalizers(made), true);
    });

    it('keeps label, finalizers and status in any update', () => {
      const made = create();
      const updated = cluster.update('namespaces', {
        ...made,
        metadata: { ...made.metadata, labels: {} },
        spec: {},
        status: { phase: 'x' },
      });
      assert.equal(updated, made);
    });

    it('needs finalizers with a domain', async () => {
      assert.deepEqual(await rejection(() => create({ spec: { finalizers: ['x'] } })), [
        '422',
        'spec.finalizers: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
      ]);
    });

    it('accepts only the phase that matches its deletionTimestamp', async () => {
      const phase = (namespace: KubeObject, value: string): Promise<string[]> =>
        rejection(() =>
          cluster.api.updateStatus(
            cluster.resource('namespaces'),
            '',
            { ...namespace, status: { phase: value } },
            admin,
          ),
        );
      const made = create();
      assert.deepEqual(await phase(made, 'Terminating'), [
        '422',
        'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
      ]);
      const deleting = remove('n');
      assert.ok(deleting);
      assert.deepEqual(await phase(deleting, 'Active'), [
        '422',
        'status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
      ]);
    });
  });

  describe('the deletion of a namespace', () => {
    it('is Terminating after its deletion and is removed after its last finalizer', () => {
      const made = create();
      const deleting = remove('n');
      assert.deepEqual(deleting?.['status'], { phase: 'Terminating' });
      assert.equal(deleting?.metadata.deletionTimestamp, '2026-01-01T00:00:00Z');
      assert.equal(deleting?.metadata.deletionGracePeriodSeconds, undefined);
      assert.equal(remove('n'), deleting);
      const gone = finalize({ ...made, metadata: { ...made.metadata, resourceVersion: '' } }, []);
      assert.deepEqual([gone['spec'], fieldsOf(gone['status'])['phase']], [{}, 'Terminating']);
      assert.equal(cluster.api.get(cluster.resource('namespaces'), '', 'n'), undefined);
    });

    it('waits for the finalizers of its metadata too', () => {
      const made = create({ metadata: { name: 'n', finalizers: ['a.b/c'] } });
      remove('n');
      finalize({ ...made, metadata: { ...made.metadata, resourceVersion: '' } }, []);
      assert.ok(cluster.api.get(cluster.resource('namespaces'), '', 'n'));
    });

    for (const name of ['default', 'kube-system', 'kube-public']) {
      it(`is forbidden for ${name}`, async () => {
        create({}, name);
        assert.deepEqual(await rejection(() => remove(name)), [
          '403',
          `namespaces "${name}" is forbidden: this namespace may not be deleted`,
        ]);
      });
    }
  });

  describe('finalizing a namespace', () => {
    it('changes finalizers and metadata, but neither status nor identity', () => {
      const made = create();
      const next = finalize(made, ['a.b/c'], {
        labels: { x: 'y' },
        uid: made.metadata.uid,
        creationTimestamp: '2000-01-01T00:00:00Z',
      });
      assert.deepEqual([next['spec'], next['status']], [{ finalizers: ['a.b/c'] }, { phase: 'Active' }]);
      assert.deepEqual(next.metadata.labels, { x: 'y', 'kubernetes.io/metadata.name': 'n' });
      assert.equal(next.metadata.creationTimestamp, made.metadata.creationTimestamp);
    });

    it('is refused for a finalizer without a domain', async () => {
      const made = create();
      assert.deepEqual(await rejection(() => finalize(made, ['kubernetes', 'q'])), [
        '422',
        'spec.finalizers[1]: Invalid value: "q": name is neither a standard finalizer name nor is it fully qualified',
      ]);
    });
  });
});
