import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asNode, asPod, conditionOf } from '../runtime/objects.ts';
import { type TestCluster, testCluster } from '../testing/test-cluster.ts';
import { scheduler } from './scheduler.ts';

const start = (): TestCluster => {
  const cluster = testCluster();
  cluster.create('namespaces', 'a');
  cluster.run(scheduler);
  return cluster;
};

const mac = (cluster: TestCluster, name: string, cpu = '4'): void => {
  cluster.create('nodes', name, { spec: {}, status: { allocatable: { cpu, pods: '10' } } });
};

const pod = (cluster: TestCluster, name: string, spec: Record<string, unknown> = {}, cpu = '1'): void => {
  const containers = [{ name: 'c', resources: { requests: { cpu } } }];
  cluster.create('pods', `a/${name}`, { spec: { schedulerName: 'default-scheduler', containers, ...spec } });
};

const nodeOf = (cluster: TestCluster, name: string): string | undefined => {
  const found = cluster.get('pods', `a/${name}`);
  return found && asPod(found).spec.nodeName;
};

const events = (cluster: TestCluster): string[] =>
  cluster.list('events').map((key) => {
    const event = cluster.get('events', key);
    return `${String(event?.['reason'])}: ${String(event?.['message'])}`;
  });

test('Pods are spread over the suitable Nodes', () => {
  const cluster = start();
  mac(cluster, 'm1');
  mac(cluster, 'm2');
  for (const name of ['p1', 'p2', 'p3']) pod(cluster, name);
  assert.equal(nodeOf(cluster, 'p1'), undefined);
  cluster.clock.advance(0);
  assert.deepEqual(
    ['p1', 'p2', 'p3'].map((name) => nodeOf(cluster, name)),
    ['m1', 'm2', 'm1'],
  );
  assert.deepEqual(cluster.errors, []);
});

test('a Pod reports why it is pending, once, and is bound when there is a place', () => {
  const cluster = start();
  pod(cluster, 'p');
  cluster.clock.advance(0);
  const waiting = asPod(cluster.get('pods', 'a/p') ?? assert.fail());
  assert.deepEqual(conditionOf(waiting, 'PodScheduled'), {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: 'no nodes available to schedule pods',
    lastProbeTime: null,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 1,
  });
  cluster.edit('pods', 'a/p', (object) => (object.metadata.labels = { touched: '' }));
  cluster.clock.advance(60_000);
  assert.deepEqual(events(cluster), ['FailedScheduling: no nodes available to schedule pods']);
  mac(cluster, 'm1');
  cluster.clock.advance(0);
  assert.equal(nodeOf(cluster, 'p'), 'm1');
  assert.deepEqual(events(cluster).sort(), [
    'FailedScheduling: no nodes available to schedule pods',
    'Scheduled: Successfully assigned a/p to m1',
  ]);
});

test('the Events are those of kube-scheduler', () => {
  const cluster = start();
  mac(cluster, 'm1');
  pod(cluster, 'p');
  const { uid, resourceVersion } = cluster.get('pods', 'a/p')?.metadata ?? assert.fail();
  cluster.clock.advance(0);
  const [key = ''] = cluster.list('events');
  const { metadata, ...event } = cluster.get('events', key) ?? assert.fail();
  assert.match(metadata.name, /^p\.[0-9a-f]+$/);
  assert.deepEqual(event, {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'a', name: 'p', uid, resourceVersion },
    reason: 'Scheduled',
    message: 'Successfully assigned a/p to m1',
    type: 'Normal',
    action: 'Binding',
    eventTime: '2026-01-01T00:00:00.000000Z',
    firstTimestamp: null,
    lastTimestamp: null,
    source: {},
    reportingComponent: 'default-scheduler',
    reportingInstance: 'default-scheduler-sim',
  });
});

test('a finished Pod makes room for the next', () => {
  const cluster = start();
  mac(cluster, 'm1', '1');
  pod(cluster, 'first');
  cluster.clock.advance(0);
  pod(cluster, 'second');
  cluster.clock.advance(0);
  assert.equal(nodeOf(cluster, 'second'), undefined);
  cluster.edit('pods', 'a/first', (object) => (object['status'] = { phase: 'Succeeded' }));
  cluster.clock.advance(0);
  assert.equal(nodeOf(cluster, 'second'), 'm1');
});

test('an uncordoned Node is tried again, one that only sends heartbeats is not', () => {
  const cluster = start();
  mac(cluster, 'm1');
  cluster.edit('nodes', 'm1', (node) => (asNode(node).spec.unschedulable = true));
  pod(cluster, 'p');
  cluster.clock.advance(0);
  assert.equal(nodeOf(cluster, 'p'), undefined);
  cluster.edit('nodes', 'm1', (node) => delete asNode(node).spec.unschedulable);
  cluster.clock.advance(0);
  assert.equal(nodeOf(cluster, 'p'), 'm1');
});

test('Pods of other schedulers, gated Pods and Pods that are being deleted are left alone', () => {
  const cluster = start();
  mac(cluster, 'm1');
  pod(cluster, 'other', { schedulerName: 'mine' });
  pod(cluster, 'gated', { schedulingGates: [{ name: 'x.y/z' }] });
  cluster.create(
    'pods',
    'a/deleted',
    { spec: { schedulerName: 'default-scheduler', containers: [] } },
    { finalizers: ['x.y/z'] },
  );
  cluster.delete('pods', 'a/deleted');
  cluster.clock.advance(60_000);
  for (const name of ['other', 'gated', 'deleted']) assert.equal(nodeOf(cluster, name), undefined, name);
  assert.deepEqual(events(cluster), []);
  cluster.edit('pods', 'a/gated', (object) => delete asPod(object).spec.schedulingGates);
  cluster.clock.advance(0);
  assert.equal(nodeOf(cluster, 'gated'), 'm1');
});
