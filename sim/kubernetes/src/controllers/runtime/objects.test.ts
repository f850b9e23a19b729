import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Condition, type Pod, withPodCondition } from './objects.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const said = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' };

const pod = (...conditions: Condition[]): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', generation: 3 },
  spec: {},
  status: { phase: 'Pending', conditions },
});

test('a new condition is added with the time and the observed generation', () => {
  assert.deepEqual(withPodCondition(pod(), said, now), {
    phase: 'Pending',
    conditions: [{ ...said, lastProbeTime: null, lastTransitionTime: '2026-01-01T00:10:00Z', observedGeneration: 3 }],
  });
});

test('the same condition is no change', () => {
  assert.equal(withPodCondition(pod({ ...said, lastTransitionTime: '2026-01-01T00:00:00Z' }), said, now), undefined);
});

test('another message is no transition', () => {
  const old = { ...said, message: 'other', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const [condition] = withPodCondition(pod(old), said, now)?.conditions ?? [];
  assert.equal(condition?.lastTransitionTime, '2026-01-01T00:00:00Z');
  assert.equal(condition?.message, 'no room');
});

test('another status is a transition, and the other conditions keep their place', () => {
  const ready = { type: 'Ready', status: 'True' };
  const old = { ...said, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const conditions = withPodCondition(pod(old, ready), said, now)?.conditions ?? [];
  assert.equal(conditions[0]?.lastTransitionTime, '2026-01-01T00:10:00Z');
  assert.deepEqual(conditions[1], ready);
});
