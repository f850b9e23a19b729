import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodWaitReason } from '@tartan/api';
import { nextFailure } from './pod-worker.ts';

/** The seconds between failures with these reasons. */
const waits = (...reasons: PodWaitReason[]): number[] => {
  let failure: ReturnType<typeof nextFailure> | undefined;
  return reasons.map((reason) => {
    failure = nextFailure(failure, reason, 'no', 1_000);
    return (failure.retryAt - 1_000) / 1000;
  });
};

test('failure back-off doubles up to five minutes', () => {
  assert.deepEqual(
    waits(...Array.from({ length: 8 }, () => 'TartCreateFailed' as const)),
    [5, 10, 20, 40, 80, 160, 300, 300],
  );
});

test('a missing Secret or ConfigMap is retried within half a second, and at least every 30 s', () => {
  const missing = Array.from({ length: 8 }, () => 'CreateContainerConfigError' as const);
  assert.deepEqual(waits(...missing), [0.5, 1, 2, 4, 8, 16, 30, 30]);
  assert.deepEqual(waits(...missing, 'TartCreateFailed').at(-1), 5, 'another kind of failure is counted anew');
});
