import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createMissingNodeTracker } from './missing-nodes.ts';

test('a Node is missing since it was first recorded, and from zero again after it was there', () => {
  const clock = manualClock();
  const missingNodes = createMissingNodeTracker(clock);
  missingNodes.record('a', true);
  clock.advance(1000);
  missingNodes.record('a', true);
  assert.equal(missingNodes.missingForMs('a'), 1000);
  assert.equal(missingNodes.missingForMs('b'), 0);
  assert.equal(missingNodes.has('b'), false, 'to ask records nothing');
  missingNodes.record('a', false);
  assert.equal(missingNodes.has('a'), false);
  missingNodes.record('a', true);
  assert.equal(missingNodes.missingForMs('a'), 0);
  missingNodes.clear();
  assert.equal(missingNodes.has('a'), false);
});

test('a wall clock that is set forward does not count', () => {
  let wall = 0;
  const missingNodes = createMissingNodeTracker({ ...manualClock(), now: () => (wall += 3_600_000) } as never);
  missingNodes.record('a', true);
  assert.equal(missingNodes.missingForMs('a'), 0);
});
