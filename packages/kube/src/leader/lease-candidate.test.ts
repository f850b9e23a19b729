import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../clock/index.ts';
import { withDeadline } from './lease-candidate.ts';

const never = new Promise<never>(() => {});

test('a call that answers in time is answered', async () => {
  assert.equal(await withDeadline(manualClock(), 10, ({ deadlineMs }) => Promise.resolve(deadlineMs)), 10);
});

test('a call that throws, rejects', async () => {
  const broken = (): Promise<never> => {
    throw new TypeError('broken');
  };
  await assert.rejects(withDeadline(manualClock(), 10, broken), TypeError);
});

test('a call that does not return is aborted at its deadline', async () => {
  const clock = manualClock();
  let told: AbortSignal | undefined;
  const call = withDeadline(clock, 10, ({ signal }) => {
    told = signal;
    return never;
  });
  clock.advance(9);
  assert.equal(told?.aborted, false);
  clock.advance(1);
  await assert.rejects(call, { name: 'KubeError', reason: 'timeout' });
  assert.equal(told?.aborted, true);
});

test('a call ends with the signal of its caller', async () => {
  const stop = new AbortController();
  const call = withDeadline(manualClock(), 10, () => never, stop.signal);
  stop.abort();
  await assert.rejects(call, { name: 'KubeError', reason: 'aborted' });
  await assert.rejects(
    withDeadline(manualClock(), 10, () => assert.fail('called'), stop.signal),
    { reason: 'aborted' },
  );
});
