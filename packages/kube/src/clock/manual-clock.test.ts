import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microTimestamp, timestamp, withTimeout } from './clock.ts';
import { manualClock } from './manual-clock.ts';

test('due timers run in order of time, then of registration', () => {
  const clock = manualClock(0);
  const ran: string[] = [];
  clock.after(20, () => ran.push('late'));
  clock.after(10, () => ran.push('early'));
  clock.after(10, () => ran.push('early too'));
  clock.advance(15);
  assert.deepEqual(ran, ['early', 'early too']);
  clock.advance(5);
  assert.deepEqual(ran, ['early', 'early too', 'late']);
  assert.equal(clock.now(), 20);
});

test('a timer set while the clock advances runs in the same advance, at its own time', () => {
  const clock = manualClock(0);
  const at: number[] = [];
  const again = (): void => {
    at.push(clock.now());
    if (at.length < 3) clock.after(10, again);
  };
  clock.after(10, again);
  clock.advance(100);
  assert.deepEqual(at, [10, 20, 30]);
});

test('a cancelled timer does not run', () => {
  const clock = manualClock(0);
  const cancelTimer = clock.after(1, () => assert.fail('ran'));
  cancelTimer();
  clock.advance(10);
});

test('withTimeout aborts a call after its time, or with the signal of its caller, and leaves no timer behind', async () => {
  const clock = manualClock(0);
  const untilAborted = (signal: AbortSignal): Promise<unknown> =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason), { once: true }));
  const late = withTimeout(clock, 10, untilAborted);
  clock.advance(10);
  assert.match(String(await late), /^TimeoutError: No answer within 10 ms$/);
  const caller = new AbortController();
  const stopped = withTimeout(clock, 10, untilAborted, caller.signal);
  caller.abort('enough');
  assert.equal(await stopped, 'enough');
  assert.equal(await withTimeout({ ...clock, after: () => () => clock.advance(1) }, 10, async () => 'done'), 'done');
  assert.equal(clock.now(), 11, 'the timer is cancelled');
});

test('timestamps have the format of Go', () => {
  assert.equal(timestamp(1234), '1970-01-01T00:00:01Z');
  assert.equal(microTimestamp(1234), '1970-01-01T00:00:01.234000Z');
});
