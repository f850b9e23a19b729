import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createMissingNodeTracker } from './missing-nodes.ts';

test('a Node is missing since the first query, and from zero again after it was there', () => {
  const clock = manualClock();
  const absences = createMissingNodeTracker(clock);
  assert.equal(absences.missingForMs('a'), 0);
  clock.advance(1000);
  assert.equal(absences.missingForMs('a'), 1000);
  assert.equal(absences.missingForMs('b'), 0);
  absences.forget('a');
  assert.equal(absences.has('a'), false);
  assert.equal(absences.missingForMs('a'), 0);
  absences.clear();
  assert.equal(absences.has('b'), false);
});

test('a wall clock that is set forward does not count', () => {
  let wall = 0;
  const absences = createMissingNodeTracker({ ...manualClock(), now: () => (wall += 3_600_000) } as never);
  absences.missingForMs('a');
  assert.equal(absences.missingForMs('a'), 0);
});
