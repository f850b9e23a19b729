import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createAbsences } from './absences.ts';

test('an absence counts from the first question, and from zero after the Node was there', () => {
  const clock = manualClock();
  const absences = createAbsences(clock);
  assert.equal(absences.missingForMs('a'), 0);
  clock.advance(1000);
  assert.equal(absences.missingForMs('a'), 1000);
  assert.equal(absences.missingForMs('b'), 0);
  absences.forget('a');
  assert.equal(absences.has('a'), false);
  assert.equal(absences.missingForMs('a'), 0);
  absences.forgetAll();
  assert.equal(absences.has('b'), false);
});

test('a wall clock that is set forward shortens no absence', () => {
  let wall = 0;
  const absences = createAbsences({ ...manualClock(), now: () => (wall += 3_600_000) } as never);
  absences.missingForMs('a');
  assert.equal(absences.missingForMs('a'), 0);
});
