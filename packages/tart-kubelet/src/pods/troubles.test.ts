import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createTroubles } from './troubles.ts';

test('what fails again and again waits twice as long each time, at most five minutes, and from the start once it went well', () => {
  const clock = manualClock();
  const troubles = createTroubles(clock);
  const waits = Array.from({ length: 8 }, () => troubles.failed('a', 'TartCreateFailed', 'no').retryAt - clock.now());
  assert.deepEqual(
    waits.map((wait) => wait / 1000),
    [5, 10, 20, 40, 80, 160, 300, 300],
  );
  assert.equal(troubles.of('b'), undefined);
  troubles.forget('a');
  assert.equal(troubles.of('a'), undefined);
  assert.equal(troubles.failed('a', 'TartCreateFailed', 'no').retryAt - clock.now(), 5000);
});

test('an object that is missing is asked for again soon, as somebody may be making it, and never after minutes only', () => {
  const clock = manualClock();
  const troubles = createTroubles(clock);
  const next = (reason: Parameters<typeof troubles.failed>[1]): number =>
    (troubles.failed('a', reason, 'no').retryAt - clock.now()) / 1000;
  const waits = Array.from({ length: 8 }, () => next('CreateContainerConfigError'));
  assert.deepEqual(waits, [0.5, 1, 2, 4, 8, 16, 30, 30]);
  assert.equal(next('TartCreateFailed'), 60, 'what fails in another way goes on from there');
  assert.equal(next('CreateContainerConfigError'), 30);
});
