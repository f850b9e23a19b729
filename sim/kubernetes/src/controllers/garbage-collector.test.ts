import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject, OwnerReference } from '../object.ts';
import { garbageCollector } from './garbage-collector.ts';
import { type TestCluster, testCluster } from './testing/test-cluster.ts';
import { testResource } from '../testing/test-resource.ts';

const start = (): TestCluster => {
  const cluster = testCluster();
  cluster.create('namespaces', 'a');
  cluster.create('namespaces', 'b');
  cluster.run(garbageCollector);
  return cluster;
};

const by = (owner: KubeObject, rest: Partial<OwnerReference> = {}): { ownerReferences: OwnerReference[] } => ({
  ownerReferences: [
    { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.metadata.name, uid: owner.metadata.uid, ...rest },
  ],
});

const blocking = { blockOwnerDeletion: true };

test('a dependent is deleted after its owner, never within the same delete', () => {
  const cluster = start();
  const owner = cluster.create('configmaps', 'a/owner');
  cluster.create('secrets', 'a/child', {}, by(owner));
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('secrets'), ['a/child']);
  cluster.delete('configmaps', 'a/owner');
  assert.deepEqual(cluster.list('secrets'), ['a/child']);
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('secrets'), []);
  assert.deepEqual(cluster.errors, []);
});

test('a chain of dependents is deleted', () => {
  const cluster = start();
  let owner = cluster.create('configmaps', 'a/0');
  for (const name of ['1', '2', '3']) owner = cluster.create('configmaps', `a/${name}`, {}, by(owner));
  cluster.clock.advance(0);
  cluster.delete('configmaps', 'a/0');
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('configmaps'), []);
});

test('dependents orphaned before the start are deleted too', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'a');
  const owner = cluster.create('configmaps', 'a/owner');
  cluster.create('secrets', 'a/child', {}, by(owner));
  cluster.delete('configmaps', 'a/owner');
  cluster.run(garbageCollector);
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('secrets'), []);
});

test('an owner of the same name with another UID is not the owner', () => {
  const cluster = start();
  const owner = cluster.create('configmaps', 'a/owner');
  cluster.create('secrets', 'a/child', {}, by(owner));
  cluster.delete('configmaps', 'a/owner');
  cluster.create('configmaps', 'a/owner');
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('secrets'), []);
});

test('an owner in another namespace counts as missing, and an Event reports it', () => {
  const cluster = start();
  const owner = cluster.create('configmaps', 'b/owner');
  cluster.create('secrets', 'a/child', {}, by(owner));
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('secrets'), []);
  const [event = ''] = cluster.list('events');
  assert.equal(
    cluster.get('events', event)?.['message'],
    `ownerRef [v1/ConfigMap, namespace: a, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "a"`,
  );
});

test('a cluster-scoped owner may have dependents in any namespace', () => {
  const cluster = start();
  const owner = cluster.create('nodes', 'mac');
  cluster.create('secrets', 'a/child', {}, by(owner));
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('secrets'), ['a/child']);
  assert.deepEqual(cluster.list('events'), []);
  cluster.delete('nodes', 'mac');
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('secrets'), []);
});

test('a cluster-scoped dependent of a namespaced owner stays', () => {
  const cluster = start();
  const owner = cluster.create('configmaps', 'a/owner');
  cluster.create('nodes', 'mac', {}, by(owner));
  cluster.delete('configmaps', 'a/owner');
  cluster.clock.advance(120_000);
  assert.deepEqual(cluster.list('nodes'), ['mac']);
});

test('with an existing owner only the dangling reference is removed', () => {
  const cluster = start();
  const dead = cluster.create('configmaps', 'a/dead');
  const living = cluster.create('configmaps', 'a/living');
  const ownerReferences = [...by(dead).ownerReferences, ...by(living).ownerReferences];
  cluster.create('secrets', 'a/child', {}, { ownerReferences });
  cluster.delete('configmaps', 'a/dead');
  cluster.clock.advance(0);
  assert.deepEqual(cluster.get('secrets', 'a/child')?.metadata.ownerReferences, by(living).ownerReferences);
});

test('a dependent with a finalizer is marked for deletion, and stays until the finalizer is removed', () => {
  const cluster = start();
  const owner = cluster.create('configmaps', 'a/owner');
  cluster.create('secrets', 'a/child', {}, { ...by(owner), finalizers: ['x.y/z'] });
  cluster.delete('configmaps', 'a/owner');
  cluster.clock.advance(0);
  assert.notEqual(cluster.get('secrets', 'a/child')?.metadata.deletionTimestamp, undefined);
  cluster.edit('secrets', 'a/child', (child) => (child.metadata.finalizers = []));
  assert.deepEqual(cluster.list('secrets'), []);
});

test('an object being deleted is left alone', () => {
  const cluster = start();
  const dead = cluster.create('configmaps', 'a/dead');
  const living = cluster.create('configmaps', 'a/living');
  const ownerReferences = [...by(dead).ownerReferences, ...by(living).ownerReferences];
  cluster.create('secrets', 'a/child', {}, { ownerReferences, finalizers: ['x.y/z'] });
  cluster.delete('secrets', 'a/child');
  cluster.delete('configmaps', 'a/dead');
  cluster.clock.advance(0);
  assert.deepEqual(cluster.get('secrets', 'a/child')?.metadata.ownerReferences, ownerReferences);
});

test('a foreground deletion waits for blocking dependents', () => {
  const cluster = start();
  const owner = cluster.create('configmaps', 'a/owner');
  cluster.create('secrets', 'a/blocks', {}, { ...by(owner, blocking), finalizers: ['x.y/z'] });
  cluster.create('secrets', 'a/plain', {}, by(owner));
  cluster.clock.advance(0);
  cluster.delete('configmaps', 'a/owner', { propagationPolicy: 'Foreground' });
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('secrets'), ['a/blocks']);
  assert.notEqual(cluster.get('secrets', 'a/blocks')?.metadata.deletionTimestamp, undefined);
  assert.deepEqual(cluster.get('configmaps', 'a/owner')?.metadata.finalizers, ['foregroundDeletion']);
  cluster.edit('secrets', 'a/blocks', (child) => (child.metadata.finalizers = []));
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('secrets'), []);
  assert.deepEqual(cluster.list('configmaps'), []);
});

test('a foreground deletion does not wait for other dependents', () => {
  const cluster = start();
  const owner = cluster.create('configmaps', 'a/owner');
  cluster.create('secrets', 'a/slow', {}, { ...by(owner), finalizers: ['x.y/z'] });
  cluster.clock.advance(0);
  cluster.delete('configmaps', 'a/owner', { propagationPolicy: 'Foreground' });
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('configmaps'), []);
  assert.notEqual(cluster.get('secrets', 'a/slow')?.metadata.deletionTimestamp, undefined);
});

test('a foreground deletion deletes the last dependents of a chain first', () => {
  const cluster = start();
  const top = cluster.create('configmaps', 'a/top');
  const middle = cluster.create('configmaps', 'a/middle', {}, by(top, blocking));
  cluster.create('configmaps', 'a/bottom', {}, { ...by(middle, blocking), finalizers: ['x.y/z'] });
  cluster.clock.advance(0);
  cluster.delete('configmaps', 'a/top', { propagationPolicy: 'Foreground' });
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('configmaps'), ['a/bottom', 'a/middle', 'a/top']);
  cluster.edit('configmaps', 'a/bottom', (object) => (object.metadata.finalizers = []));
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('configmaps'), []);
});

test('a dependent without its owner reference no longer blocks the owner', () => {
  const cluster = start();
  const owner = cluster.create('configmaps', 'a/owner');
  cluster.create('secrets', 'a/child', {}, { ...by(owner, blocking), finalizers: ['x.y/z'] });
  cluster.clock.advance(0);
  cluster.delete('configmaps', 'a/owner', { propagationPolicy: 'Foreground' });
  cluster.clock.advance(0);
  cluster.edit('secrets', 'a/child', (child) => delete child.metadata.ownerReferences);
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('configmaps'), []);
});

test('a cycle of owners that block each other is resolved', () => {
  const cluster = start();
  const first = cluster.create('configmaps', 'a/first');
  const second = cluster.create('configmaps', 'a/second', {}, by(first, blocking));
  const third = cluster.create('configmaps', 'a/third', {}, by(second, blocking));
  cluster.edit('configmaps', 'a/first', (object) => Object.assign(object.metadata, by(third, blocking)));
  cluster.clock.advance(0);
  assert.equal(cluster.list('configmaps').length, 3);
  cluster.delete('configmaps', 'a/first', { propagationPolicy: 'Foreground' });
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('configmaps'), []);
  assert.deepEqual(cluster.errors, []);
});

test('an orphaning deletion removes the references and then the owner', () => {
  const cluster = start();
  const owner = cluster.create('configmaps', 'a/owner');
  cluster.create('secrets', 'a/child', {}, by(owner));
  cluster.clock.advance(0);
  cluster.delete('configmaps', 'a/owner', { propagationPolicy: 'Orphan' });
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('configmaps'), []);
  assert.deepEqual(cluster.list('secrets'), ['a/child']);
  assert.equal(cluster.get('secrets', 'a/child')?.metadata.ownerReferences, undefined);
});

test('custom resources defined later are owners and dependents like all others', () => {
  const cluster = start();
  cluster.define(testResource('machines', 'Machine', { group: 'x.dev', custom: true }));
  cluster.clock.advance(0);
  const machine = cluster.create('machines', 'a/m');
  cluster.create('secrets', 'a/child', {}, by(machine));
  const owner = cluster.create('configmaps', 'a/owner');
  cluster.create('machines', 'a/owned', {}, by(owner));
  cluster.clock.advance(0);
  cluster.delete('machines', 'a/m');
  cluster.delete('configmaps', 'a/owner');
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('secrets'), []);
  assert.deepEqual(cluster.list('machines'), []);
});

test('a reference to an unknown kind waits until the kind is served', () => {
  const cluster = start();
  const ownerReferences = [{ apiVersion: 'x.dev/v1', kind: 'Machine', name: 'm', uid: 'nobody' }];
  cluster.create('secrets', 'a/child', {}, { ownerReferences });
  cluster.clock.advance(600_000);
  assert.deepEqual(cluster.list('secrets'), ['a/child']);
  cluster.define(testResource('machines', 'Machine', { group: 'x.dev', custom: true }));
  cluster.clock.advance(30_000);
  assert.deepEqual(cluster.list('secrets'), []);
});

test('after stop nothing is collected', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'a');
  const stop = cluster.run(garbageCollector);
  const owner = cluster.create('configmaps', 'a/owner');
  cluster.create('secrets', 'a/child', {}, by(owner));
  stop();
  cluster.delete('configmaps', 'a/owner');
  cluster.clock.advance(600_000);
  assert.deepEqual(cluster.list('secrets'), ['a/child']);
});
