import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespaceConditions, namespaceController } from './namespace-controller.ts';
import { rootCaPublisher, serviceAccounts } from './namespace-objects.ts';
import type { Namespace } from './runtime/objects.ts';
import { type TestCluster, testCluster } from './testing/test-cluster.ts';
import { testResource } from '../testing/test-resource.ts';

const start = (): TestCluster => {
  const cluster = testCluster();
  cluster.run(namespaceController);
  cluster.create('namespaces', 'a');
  return cluster;
};

const conditions = (cluster: TestCluster): Record<string, string> => {
  const namespace: Namespace | undefined = cluster.get('namespaces', 'a');
  return Object.fromEntries(
    (namespace?.status?.conditions ?? []).map(({ type, status, message }) => [type, `${status} ${message}`]),
  );
};

const fine = {
  NamespaceDeletionDiscoveryFailure: 'False All resources successfully discovered',
  NamespaceDeletionGroupVersionParsingFailure: 'False All legacy kube types successfully parsed',
  NamespaceDeletionContentFailure: 'False All content successfully deleted, may be waiting on finalization',
  NamespaceContentRemaining: 'False All content successfully removed',
  NamespaceFinalizersRemaining: 'False All content-preserving finalizers finished',
};

test('a fresh cluster has four namespaces, and a second start keeps them', () => {
  const cluster = start();
  const stop = cluster.run(namespaceController);
  stop();
  assert.deepEqual(cluster.list('namespaces'), ['a', 'default', 'kube-node-lease', 'kube-public', 'kube-system']);
});

test('a namespace is deleted with all its objects, custom resources too', () => {
  const cluster = start();
  cluster.define(testResource('machines', 'Machine', { group: 'x.dev', custom: true }));
  cluster.create('machines', 'a/m');
  cluster.create('configmaps', 'a/c');
  cluster.create('configmaps', 'default/c');
  cluster.delete('namespaces', 'a');
  assert.deepEqual(cluster.list('configmaps'), ['a/c', 'default/c']);
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('configmaps'), ['default/c']);
  assert.deepEqual(cluster.list('machines'), []);
  assert.equal(cluster.get('namespaces', 'a'), undefined);
  assert.deepEqual(cluster.errors, []);
});

test('only Pods are deleted while Pods are terminating', () => {
  const cluster = start();
  cluster.create('pods', 'a/p', { spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 } });
  cluster.create('configmaps', 'a/c');
  cluster.delete('namespaces', 'a');
  cluster.clock.advance(0);
  assert.equal(cluster.get('pods', 'a/p')?.metadata.deletionGracePeriodSeconds, 30);
  assert.deepEqual(cluster.list('configmaps'), ['a/c']);
  assert.deepEqual(conditions(cluster), fine);
  cluster.delete('pods', 'a/p', { gracePeriodSeconds: 0 });
  cluster.clock.advance(0);
  assert.deepEqual(cluster.list('configmaps'), []);
  assert.equal(cluster.get('namespaces', 'a'), undefined);
});

test('a Pod that exceeds its grace period is reported as a failure', () => {
  const cluster = start();
  cluster.create('pods', 'a/p', { spec: { nodeName: 'n', terminationGracePeriodSeconds: 30 } });
  cluster.delete('namespaces', 'a');
  cluster.clock.advance(120_000);
  assert.deepEqual(conditions(cluster), {
    ...fine,
    NamespaceDeletionContentFailure:
      'True Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: a for gvr: /v1, Resource=pods',
  });
  assert.deepEqual(cluster.errors, []);
});

test('remaining finalizers are reported in conditions, and the namespace is removed after them', () => {
  const cluster = start();
  cluster.create('configmaps', 'a/c', {}, { finalizers: ['x.y/z'] });
  cluster.create('configmaps', 'a/d', {}, { finalizers: ['x.y/z', 'x.y/w'] });
  cluster.delete('namespaces', 'a');
  cluster.clock.advance(0);
  assert.deepEqual(conditions(cluster), {
    ...fine,
    NamespaceContentRemaining: 'True Some resources are remaining: configmaps. has 2 resource instances',
    NamespaceFinalizersRemaining:
      'True Some content in the namespace has finalizers remaining: x.y/w in 1 resource instances, x.y/z in 2 resource instances',
  });
  for (const name of ['c', 'd']) cluster.edit('configmaps', `a/${name}`, (object) => (object.metadata.finalizers = []));
  cluster.clock.advance(0);
  assert.equal(cluster.get('namespaces', 'a'), undefined);
});

test('a namespace that was being deleted before the start is removed too', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'a');
  cluster.delete('namespaces', 'a');
  cluster.run(namespaceController);
  cluster.clock.advance(0);
  assert.equal(cluster.get('namespaces', 'a'), undefined);
});

test('every namespace has a ServiceAccount and the root certificate, which are restored', () => {
  const cluster = start();
  cluster.run(serviceAccounts);
  cluster.run((onError) => rootCaPublisher('PEM', onError));
  cluster.clock.advance(0);
  cluster.create('namespaces', 'late');
  cluster.clock.advance(0);
  const everywhere = ['a', 'default', 'kube-node-lease', 'kube-public', 'kube-system', 'late'];
  assert.deepEqual(
    cluster.list('serviceaccounts'),
    everywhere.map((name) => `${name}/default`),
  );
  assert.deepEqual(
    cluster.list('configmaps'),
    everywhere.map((name) => `${name}/kube-root-ca.crt`),
  );
  cluster.delete('serviceaccounts', 'a/default');
  cluster.delete('configmaps', 'a/kube-root-ca.crt');
  cluster.edit('configmaps', 'late/kube-root-ca.crt', (object) => {
    object['data'] = { 'ca.crt': 'FORGED', more: '' };
    object.metadata.labels = { mine: '' };
  });
  cluster.clock.advance(0);
  assert.ok(cluster.get('serviceaccounts', 'a/default'));
  assert.deepEqual(cluster.get('configmaps', 'a/kube-root-ca.crt')?.['data'], { 'ca.crt': 'PEM' });
  assert.deepEqual(cluster.get('configmaps', 'late/kube-root-ca.crt')?.['data'], { 'ca.crt': 'PEM' });
  assert.deepEqual(cluster.get('configmaps', 'late/kube-root-ca.crt')?.metadata.labels, { mine: '' });
});

test('a terminating namespace does not get its ServiceAccount and root certificate back', () => {
  const cluster = start();
  cluster.run(serviceAccounts);
  cluster.run((onError) => rootCaPublisher('PEM', onError));
  cluster.create('configmaps', 'a/c', {}, { finalizers: ['x.y/z'] });
  cluster.clock.advance(0);
  cluster.delete('namespaces', 'a');
  cluster.clock.advance(60_000);
  assert.equal(cluster.get('serviceaccounts', 'a/default'), undefined);
  assert.equal(cluster.get('configmaps', 'a/kube-root-ca.crt'), undefined);
  assert.deepEqual(cluster.errors, []);
});

const early = Date.parse('2026-01-01T00:00:00Z');
const late = Date.parse('2026-01-01T01:00:00Z');
const nothing = { remaining: new Map(), finalizers: new Map(), failures: [] };

test('the same findings cause no change', () => {
  const first = namespaceConditions([], nothing, early);
  assert.equal(first?.length, 5);
  assert.equal(namespaceConditions(first ?? [], nothing, late), undefined);
});

test('conditions of others are kept, and lastTransitionTime changes only with the status', () => {
  const foreign = { type: 'Mine', status: 'True' };
  const first = namespaceConditions([foreign], nothing, early) ?? [];
  const failed = namespaceConditions(first, { ...nothing, failures: ['b', 'a'] }, late) ?? [];
  assert.deepEqual(failed[0], foreign);
  const times = Object.fromEntries(failed.slice(1).map(({ type, lastTransitionTime }) => [type, lastTransitionTime]));
  assert.equal(times['NamespaceDeletionContentFailure'], '2026-01-01T01:00:00Z');
  assert.equal(times['NamespaceContentRemaining'], '2026-01-01T00:00:00Z');
  const failure = failed.find(({ type }) => type === 'NamespaceDeletionContentFailure');
  assert.equal(failure?.message, 'Failed to delete all resource types, 2 remaining: a, b');
});
