import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createFailureBackoff } from './backoff.ts';

test('failure back-off doubles up to five minutes and is reset by a success', () => {
  const clock = manualClock();
  const troubles = createFailureBackoff(clock);
  const waits = Array.from(
    { length: 8 },
    () => troubles.recordFailure('a', 'TartCreateFailed', 'no').retryAt - clock.now(),
  );
  assert.deepEqual(
    waits.map((wait) => wait / 1000),
    [5, 10, 20, 40, 80, 160, 300, 300],
  );
  assert.equal(troubles.get('b'), undefined);
  troubles.reset('a');
  assert.equal(troubles.get('a'), undefined);
  assert.equal(troubles.recordFailure('a', 'TartCreateFailed', 'no').retryAt - clock.now(), 5000);
});

test('a missing Secret or ConfigMap is retried within half a second, and at least every 30 s', () => {
  const clock = manualClock();
  const troubles = createFailureBackoff(clock);
  const next = (reason: Parameters<typeof troubles.recordFailure>[1]): number =>
    (troubles.recordFailure('a', reason, 'no').retryAt - clock.now()) / 1000;
  const waits = Array.from({ length: 8 }, () => next('CreateContainerConfigError'));
  assert.deepEqual(waits, [0.5, 1, 2, 4, 8, 16, 30, 30]);
  assert.equal(next('TartCreateFailed'), 60, 'what fails in another way goes on from there');
  assert.equal(next('CreateContainerConfigError'), 30);
});
