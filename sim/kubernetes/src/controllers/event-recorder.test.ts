import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventRecorder } from './event-recorder.ts';
import { testCluster } from './test-cluster.ts';

const about = { apiVersion: 'v1', kind: 'Node', name: 'm1', uid: 'u1' };
const happening = { about, type: 'Normal', reason: 'RegisteredNode', message: 'Node m1 event: Registered' } as const;

test('an Event is written as node-controller writes it, and the same again raises its count', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'default');
  const recorder = eventRecorder(cluster.api, 'node-controller');
  recorder.record(happening);
  cluster.clock.advance(60_000);
  recorder.record(happening);
  const [key = '', ...more] = cluster.list('events');
  assert.deepEqual(more, []);
  const { metadata, ...event } = cluster.get('events', key) ?? assert.fail();
  assert.match(metadata.name, /^m1\.[0-9a-f]+$/);
  assert.deepEqual(event, {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: about,
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

test('what differs in anything is another Event, also within the same moment', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'default');
  const recorder = eventRecorder(cluster.api, 'node-controller');
  recorder.record(happening);
  recorder.record({ ...happening, message: 'other' });
  recorder.record({ ...happening, about: { ...about, uid: 'u2' } });
  assert.equal(cluster.list('events').length, 3);
});

test('an Event that has gone is written anew', () => {
  const cluster = testCluster();
  cluster.create('namespaces', 'default');
  const recorder = eventRecorder(cluster.api, 'node-controller');
  recorder.record(happening);
  cluster.delete('events', cluster.list('events')[0] ?? '');
  recorder.record(happening);
  assert.equal(cluster.get('events', cluster.list('events')[0] ?? '')?.['count'], 1);
});

test('an Event that cannot be written is dropped', () => {
  const cluster = testCluster();
  const recorder = eventRecorder(cluster.api, 'node-controller');
  recorder.record(happening);
  recorder.recordAction({ ...happening, about: { ...about, namespace: 'nowhere' } }, 'Binding');
  assert.deepEqual(cluster.list('events'), []);
});
