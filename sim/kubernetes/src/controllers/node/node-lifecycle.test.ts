import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timestamp } from '@tartan/kube/clock';
import { asNode, asPod, conditionOf } from '../runtime/objects.ts';
import { type TestCluster, testCluster } from '../testing/test-cluster.ts';
import { nodeLifecycle } from './node-lifecycle.ts';
import { nodeTaints } from './node-taints.ts';
import { taintEviction } from './taint-eviction.ts';

const start = (): TestCluster => {
  const cluster = testCluster();
  for (const name of ['default', 'kube-node-lease']) cluster.create('namespaces', name);
  for (const controller of [nodeTaints, nodeLifecycle, taintEviction]) cluster.run(controller);
  return cluster;
};

const mac = (cluster: TestCluster, name: string): void => {
  const lastHeartbeatTime = timestamp(cluster.clock.now());
  cluster.create('nodes', name, {
    spec: {},
    status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime }] },
  });
  cluster.create('leases', `kube-node-lease/${name}`, {
    spec: { renewTime: new Date(cluster.clock.now()).toISOString() },
  });
};

const renew = (cluster: TestCluster, name: string): void =>
  cluster.edit('leases', `kube-node-lease/${name}`, (lease) => {
    lease['spec'] = { renewTime: new Date(cluster.clock.now()).toISOString() };
  });

/** Advances the clock while these Nodes renew their Leases. */
const pass = (cluster: TestCluster, seconds: number, ...alive: string[]): void => {
  for (let elapsed = 0; elapsed < seconds; elapsed += 10) {
    for (const name of alive) renew(cluster, name);
    cluster.clock.advance(10_000);
  }
};

const node = (cluster: TestCluster, name: string) => asNode(cluster.get('nodes', name) ?? assert.fail(name));
const ready = (cluster: TestCluster, name: string) => conditionOf(node(cluster, name), 'Ready')?.status;
const taints = (cluster: TestCluster, name: string): string[] =>
  (node(cluster, name).spec.taints ?? []).map(({ key, effect }) => `${key.split('/')[1]}:${effect}`);

const pod = (cluster: TestCluster, name: string, nodeName: string, tolerationSeconds?: number): void => {
  const toleration = {
    key: 'node.kubernetes.io/unreachable',
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds,
  };
  cluster.create('pods', `default/${name}`, {
    spec: { nodeName, tolerations: tolerationSeconds === undefined ? [] : [toleration] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', reason: 'Up' }] },
  });
};

const podReady = (cluster: TestCluster, name: string): string | undefined =>
  conditionOf(asPod(cluster.get('pods', `default/${name}`) ?? assert.fail(name)), 'Ready')?.status;

const messages = (cluster: TestCluster): string[] =>
  cluster.list('events').map((key) => String(cluster.get('events', key)?.['message']));

test('a Node that renews its Lease is unchanged', () => {
  const cluster = start();
  mac(cluster, 'm1');
  pass(cluster, 300, 'm1');
  assert.equal(ready(cluster, 'm1'), 'True');
  assert.deepEqual(taints(cluster, 'm1'), []);
  assert.deepEqual(messages(cluster), ['Node m1 event: Registered Node m1 in Controller']);
  assert.deepEqual(cluster.errors, []);
});

test('a Node without a Lease is healthy by the heartbeats in its status', () => {
  const cluster = start();
  mac(cluster, 'm1');
  cluster.delete('leases', 'kube-node-lease/m1');
  for (let count = 0; count < 10; count++) {
    cluster.clock.advance(30_000);
    cluster.edit('nodes', 'm1', (object) => {
      const lastHeartbeatTime = timestamp(cluster.clock.now());
      object['status'] = { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime }] };
    });
  }
  assert.equal(ready(cluster, 'm1'), 'True');
  pass(cluster, 60);
  assert.equal(ready(cluster, 'm1'), 'Unknown');
});

test('one of two Nodes without heartbeats becomes Unknown, is tainted, and recovers', () => {
  const cluster = start();
  mac(cluster, 'm1');
  mac(cluster, 'm2');
  pod(cluster, 'p', 'm1', 3600);
  pod(cluster, 'other', 'm2', 3600);
  pass(cluster, 50, 'm1', 'm2');
  assert.equal(ready(cluster, 'm1'), 'True');
  pass(cluster, 60, 'm2');
  assert.equal(ready(cluster, 'm1'), 'Unknown');
  assert.deepEqual(taints(cluster, 'm1').sort(), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
  assert.equal(conditionOf(node(cluster, 'm1'), 'PIDPressure')?.reason, 'NodeStatusNeverUpdated');
  const condition = conditionOf(asPod(cluster.get('pods', 'default/p') ?? assert.fail()), 'Ready');
  assert.equal(condition?.status, 'False');
  assert.equal(condition?.reason, 'Up');
  assert.equal(podReady(cluster, 'other'), 'True');
  pod(cluster, 'late', 'm1', 3600);
  cluster.clock.advance(0);
  assert.equal(podReady(cluster, 'late'), 'False');
  assert.ok(messages(cluster).includes('Node m1 status is now: NodeNotReady'));
  assert.ok(messages(cluster).includes('Node is not ready'));

  cluster.edit('nodes', 'm1', (object) => {
    object['status'] = {
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: timestamp(cluster.clock.now()) }],
    };
  });
  pass(cluster, 10, 'm1', 'm2');
  assert.deepEqual(taints(cluster, 'm1'), []);
  assert.deepEqual(cluster.errors, []);
});

test('without heartbeats of any Node no Pod is evicted, and one heartbeat ends that', () => {
  const cluster = start();
  mac(cluster, 'm1');
  mac(cluster, 'm2');
  pass(cluster, 120);
  for (const name of ['m1', 'm2']) assert.deepEqual(taints(cluster, name), ['unreachable:NoSchedule'], name);
  cluster.edit('nodes', 'm2', (object) => {
    object['status'] = {
      conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: timestamp(cluster.clock.now()) }],
    };
  });
  pass(cluster, 30, 'm2');
  assert.deepEqual(taints(cluster, 'm2'), []);
  assert.deepEqual(taints(cluster, 'm1').sort(), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
});

test('when the heartbeats of the last Node stop too, pending evictions are cancelled', () => {
  const cluster = start();
  mac(cluster, 'm1');
  mac(cluster, 'm2');
  pass(cluster, 70, 'm2');
  assert.ok(taints(cluster, 'm1').includes('unreachable:NoExecute'));
  pass(cluster, 70);
  assert.deepEqual(taints(cluster, 'm1'), ['unreachable:NoSchedule']);
});

test('Nodes that fail at the same time are tainted one after the other', () => {
  const cluster = start();
  for (const name of ['m1', 'm2', 'm3', 'm4']) mac(cluster, name);
  pass(cluster, 10, 'm1', 'm2', 'm3', 'm4');
  const evicting = () => ['m1', 'm2'].filter((name) => taints(cluster, name).includes('unreachable:NoExecute'));
  pass(cluster, 50, 'm3', 'm4');
  assert.deepEqual(evicting(), ['m1']);
  pass(cluster, 10, 'm3', 'm4');
  assert.deepEqual(evicting(), ['m1', 'm2']);
});

test('a Node that reports not ready gets other taints; without heartbeats they are swapped at once', () => {
  const cluster = start();
  mac(cluster, 'm1');
  mac(cluster, 'm2');
  const say = (status: string): void =>
    cluster.edit('nodes', 'm1', (object) => {
      object['status'] = { conditions: [{ type: 'Ready', status, lastHeartbeatTime: timestamp(cluster.clock.now()) }] };
    });
  cluster.clock.advance(4_000);
  say('False');
  cluster.clock.advance(1_000);
  assert.deepEqual(taints(cluster, 'm1').sort(), ['not-ready:NoExecute', 'not-ready:NoSchedule']);
  say('Unknown');
  cluster.clock.advance(5_000);
  assert.deepEqual(taints(cluster, 'm1').sort(), ['unreachable:NoExecute', 'unreachable:NoSchedule']);
});

test('Pods stay on a tainted Node as long as they tolerate it', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'default');
  cluster.run(taintEviction);
  cluster.create('nodes', 'm1', { spec: {} });
  pod(cluster, 'none', 'm1');
  pod(cluster, 'some', 'm1', 60);
  pod(cluster, 'patient', 'm1', 3600);
  pod(cluster, 'ending', 'm1');
  cluster.delete('pods', 'default/ending');
  cluster.clock.advance(0);
  cluster.edit('nodes', 'm1', (object) => {
    asNode(object).spec.taints = [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }];
  });
  cluster.clock.advance(0);
  const deleted = (name: string) => cluster.get('pods', `default/${name}`)?.metadata.deletionTimestamp !== undefined;
  assert.deepEqual(['none', 'some', 'patient'].map(deleted), [true, false, false]);
  const condition = conditionOf(asPod(cluster.get('pods', 'default/none') ?? assert.fail()), 'DisruptionTarget');
  assert.equal(condition?.reason, 'DeletionByTaintManager');
  assert.equal(condition?.message, 'Taint manager: deleting due to NoExecute taint');
  cluster.clock.advance(59_999);
  assert.equal(deleted('some'), false);
  cluster.clock.advance(1);
  assert.equal(deleted('some'), true);
  assert.deepEqual(
    messages(cluster).filter((message) => message.includes('deletion')),
    ['Marking for deletion Pod default/none', 'Marking for deletion Pod default/some'],
  );
});

test('a taint that is removed in time cancels the eviction', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'default');
  cluster.run(taintEviction);
  cluster.create('nodes', 'm1', { spec: { taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }] } });
  pod(cluster, 'p', 'm1', 60);
  cluster.clock.advance(30_000);
  cluster.edit('nodes', 'm1', (object) => (object['spec'] = {}));
  cluster.clock.advance(0);
  assert.deepEqual(messages(cluster), ['Cancelling deletion of Pod default/p']);
  cluster.clock.advance(600_000);
  assert.equal(cluster.get('pods', 'default/p')?.metadata.deletionTimestamp, undefined);
});

test('a cordoned Node is tainted, and the old names of its labels are kept', () => {
  const cluster = start();
  cluster.create('nodes', 'm1', { spec: { unschedulable: true } }, { labels: { 'kubernetes.io/os': 'darwin' } });
  cluster.clock.advance(0);
  assert.deepEqual(taints(cluster, 'm1'), ['unschedulable:NoSchedule']);
  assert.equal(node(cluster, 'm1').metadata.labels?.['beta.kubernetes.io/os'], 'darwin');
  cluster.edit('nodes', 'm1', (object) => delete asNode(object).spec.unschedulable);
  cluster.clock.advance(0);
  assert.equal(node(cluster, 'm1').spec.taints, undefined);
});

test('a Node that is recreated starts without the history of the old one', () => {
  const cluster = start();
  mac(cluster, 'm1');
  cluster.clock.advance(0);
  cluster.delete('nodes', 'm1');
  cluster.delete('leases', 'kube-node-lease/m1');
  pass(cluster, 120);
  cluster.create('nodes', 'm1', { spec: {} });
  cluster.clock.advance(60_000);
  assert.equal(ready(cluster, 'm1'), undefined);
  cluster.clock.advance(10_000);
  assert.equal(ready(cluster, 'm1'), 'Unknown');
  assert.ok(messages(cluster).includes('Node m1 event: Removing Node m1 from Controller'));
});
