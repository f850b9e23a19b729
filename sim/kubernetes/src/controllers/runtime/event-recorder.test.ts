import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testCluster } from '../testing/test-cluster.ts';
import { eventRecorder } from './event-recorder.ts';

const regarding = { apiVersion: 'v1', kind: 'Node', name: 'm1', uid: 'u1' };
const fields = { regarding, type: 'Normal', reason: 'RegisteredNode', message: 'Node m1 event: Registered' } as const;

test('an Event is written in the format of node-controller, and a repetition increases its count', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'default');
  const recorder = eventRecorder(cluster.api, 'node-controller');
  recorder.record(fields);
  cluster.clock.advance(60_000);
  recorder.record(fields);
  const [key = '', ...more] = cluster.list('events');
  assert.deepEqual(more, []);
  const { metadata, ...written } = cluster.get('events', key) ?? assert.fail();
  assert.match(metadata.name, /^m1\.[0-9a-f]+$/);
  assert.deepEqual(written, {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: regarding,
    reason: 'RegisteredNode',
    message: 'Node m1 event: Registered',
    type: 'Normal',
    count: 2,
    eventTime: null,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:01:00Z',
    reportingComponent: 'node-controller',
    reportingInstance: '',
    source: { component: 'node-controller' },
  });
});

test('a different input is another Event, also at the same time', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'default');
  const recorder = eventRecorder(cluster.api, 'node-controller');
  recorder.record(fields);
  recorder.record({ ...fields, message: 'other' });
  recorder.record({ ...fields, regarding: { ...regarding, uid: 'u2' } });
  assert.equal(cluster.list('events').length, 3);
});

test('a deleted Event is written again', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'default');
  const recorder = eventRecorder(cluster.api, 'node-controller');
  recorder.record(fields);
  cluster.delete('events', cluster.list('events')[0] ?? '');
  recorder.record(fields);
  assert.equal(cluster.get('events', cluster.list('events')[0] ?? '')?.['count'], 1);
});

test('an Event that cannot be written is dropped', () => {
  const cluster = testCluster();
  const recorder = eventRecorder(cluster.api, 'node-controller');
  recorder.record(fields);
  recorder.recordAction({ ...fields, regarding: { ...regarding, namespace: 'nowhere' } }, 'Binding');
  assert.deepEqual(cluster.list('events'), []);
});
