import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventTtl } from './event-ttl.ts';
import { podGc } from './pod-gc.ts';
import { asPod, conditionOf } from './runtime/objects.ts';
import { testCluster } from './testing/test-cluster.ts';
import { tokenCleaner } from './token-cleaner.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('Pods on a missing Node are failed and deleted after the quarantine', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'a');
  cluster.create('nodes', 'm1', { spec: {} });
  cluster.run(podGc);
  cluster.create('pods', 'a/fine', { spec: { nodeName: 'm1' } });
  cluster.create('pods', 'a/lost', { spec: { nodeName: 'nowhere' } });
  cluster.create('pods', 'a/held', { spec: { nodeName: 'nowhere' } }, { finalizers: ['x.y/z'] });
  cluster.create(
    'pods',
    'a/done',
    { spec: { nodeName: 'nowhere' }, status: { phase: 'Succeeded' } },
    { finalizers: ['x.y/z'] },
  );
  cluster.clock.advance(39_999);
  assert.equal(cluster.list('pods').length, 4);
  cluster.clock.advance(1);
  assert.deepEqual(cluster.list('pods'), ['a/done', 'a/fine', 'a/held']);
  const held = asPod(cluster.get('pods', 'a/held') ?? assert.fail());
  assert.equal(held.status?.phase, 'Failed');
  assert.equal(conditionOf(held, 'DisruptionTarget')?.reason, 'DeletionByPodGC');
  assert.equal(held.metadata.deletionGracePeriodSeconds, 0);
  assert.equal(asPod(cluster.get('pods', 'a/done') ?? assert.fail()).status?.phase, 'Succeeded');
  assert.deepEqual(cluster.errors, []);
});

test('Pods are kept when their Node comes in time', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'a');
  cluster.run(podGc);
  cluster.create('pods', 'a/p', { spec: { nodeName: 'm1' } });
  cluster.clock.advance(30_000);
  cluster.create('nodes', 'm1', { spec: {} });
  cluster.clock.advance(600_000);
  assert.deepEqual(cluster.list('pods'), ['a/p']);
});

test('Events are deleted an hour after their last write', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'a');
  cluster.create('events', 'a/old', { count: 1 });
  cluster.clock.advance(1_800_000);
  cluster.run(eventTtl);
  cluster.create('events', 'a/new', { count: 1 });
  cluster.create('events', 'a/again', { count: 1 });
  cluster.clock.advance(1_800_000);
  assert.deepEqual(cluster.list('events'), ['a/again', 'a/new']);
  cluster.edit('events', 'a/again', (event) => (event['count'] = 2));
  cluster.clock.advance(1_800_000);
  assert.deepEqual(cluster.list('events'), ['a/again']);
  cluster.clock.advance(1_800_000);
  assert.deepEqual(cluster.list('events'), []);
  assert.deepEqual(cluster.errors, []);
});

test('expired bootstrap tokens in kube-system are deleted, and no others', () => {
  const cluster = testCluster();
  for (const name of ['kube-system', 'a']) cluster.create('namespaces', name);
  cluster.run(tokenCleaner);
  const token = { type: 'bootstrap.kubernetes.io/token', data: { expiration: base64('2026-01-01T00:10:00Z') } };
  cluster.create('secrets', 'kube-system/bootstrap-token-abcdef', token);
  cluster.create('secrets', 'kube-system/for-ever', { ...token, data: {} });
  cluster.create('secrets', 'kube-system/opaque', { ...token, type: 'Opaque' });
  cluster.create('secrets', 'a/elsewhere', token);
  cluster.clock.advance(599_999);
  assert.equal(cluster.list('secrets').length, 4);
  cluster.clock.advance(1);
  assert.deepEqual(cluster.list('secrets'), ['a/elsewhere', 'kube-system/for-ever', 'kube-system/opaque']);
});

test('a token that is extended in time is kept', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'kube-system');
  cluster.run(tokenCleaner);
  const token = { type: 'bootstrap.kubernetes.io/token', data: { expiration: base64('2026-01-01T00:10:00Z') } };
  cluster.create('secrets', 'kube-system/t', token);
  cluster.clock.advance(300_000);
  cluster.edit(
    'secrets',
    'kube-system/t',
    (secret) => (secret['data'] = { expiration: base64('2026-03-01T00:00:00Z') }),
  );
  cluster.clock.advance(86_400_000);
  assert.deepEqual(cluster.list('secrets'), ['kube-system/t']);
  cluster.clock.advance(60 * 86_400_000);
  assert.deepEqual(cluster.list('secrets'), []);
});
