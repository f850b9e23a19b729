import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, type ManualClock, manualClock } from '../clock/index.ts';
import { createWorkQueue, type QueueObserver } from './work-queue.ts';

const setUp = (): { clock: ManualClock; queue: ReturnType<typeof createWorkQueue> } => {
  const clock = manualClock(0);
  return { clock, queue: createWorkQueue({ clock }) };
};

/** Advances time until the queue has a key, and returns how far; gives up after an hour. */
const waitFor = (clock: ManualClock, queue: ReturnType<typeof createWorkQueue>, stepMs: number): number => {
  const start = clock.monotonic();
  while (queue.length === 0 && clock.monotonic() - start < 3_600_000) clock.advance(stepMs);
  return clock.monotonic() - start;
};

test('a key added several times is queued once', async () => {
  const { queue } = setUp();
  for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
  assert.equal(queue.length, 2);
  assert.equal(await queue.get(), 'a');
  assert.equal(await queue.get(), 'b');
});

test('a key added while it is processed is queued once afterwards', async () => {
  const { queue } = setUp();
  queue.add('a');
  await queue.get();
  queue.add('a');
  queue.add('a');
  assert.equal(queue.length, 0, 'not while somebody works on it');
  queue.done('a');
  assert.equal(await queue.get(), 'a');
  queue.done('a');
  assert.equal(queue.length, 0);
});

test('the back-off of a key doubles from 5 ms to 1000 s and starts again when the key is forgotten', async () => {
  const { clock, queue } = setUp();
  const waits: number[] = [];
  for (let failure = 1; failure <= 20; failure += 1) {
    queue.addRateLimited('a');
    waits.push(waitFor(clock, queue, 5));
    await queue.get();
    queue.done('a');
  }
  assert.deepEqual(waits.slice(0, 5), [5, 10, 20, 40, 80]);
  assert.deepEqual(waits.slice(-3), [655_360, 1_000_000, 1_000_000]);
  assert.equal(queue.numRequeues('a'), 20);
  queue.forget('a');
  assert.equal(queue.numRequeues('a'), 0);
  queue.addRateLimited('a');
  assert.equal(waitFor(clock, queue, 5), 5);
});

test('retries are limited to ten a second after a burst of a hundred', () => {
  const { clock, queue } = setUp();
  for (let index = 0; index < 150; index += 1) queue.addRateLimited(`key-${index}`);
  clock.advance(5);
  assert.equal(queue.length, 100);
  clock.advance(995);
  assert.equal(queue.length, 110);
  clock.advance(4000);
  assert.equal(queue.length, 150);
});

test('add is never delayed by the rate limiter', () => {
  const { queue } = setUp();
  for (let index = 0; index < 1000; index += 1) queue.add(`key-${index}`);
  assert.equal(queue.length, 1000);
});

test('a retry waits as long as the server requested if that is longer than the back-off', () => {
  const { clock, queue } = setUp();
  queue.addRateLimited('a', 3000);
  clock.advance(2999);
  assert.equal(queue.length, 0);
  clock.advance(1);
  assert.equal(queue.length, 1);
});

/** Counts pending timers. Like setTimeout, `after` fires at once for delays beyond 31 bits, and maybe early. */
const timerClock = (earlyByMs: number): { clock: Clock; manual: ManualClock; timers: Set<object> } => {
  const manual = manualClock(0);
  const timers = new Set<object>();
  const after: Clock['after'] = (milliseconds, run) => {
    const timer = {};
    timers.add(timer);
    const cancelTimer = manual.after(milliseconds > 2 ** 31 - 1 ? 1 : Math.max(1, milliseconds - earlyByMs), () => {
      timers.delete(timer);
      run();
    });
    return () => {
      timers.delete(timer);
      cancelTimer();
    };
  };
  return { clock: { now: manual.now, monotonic: manual.monotonic, after }, manual, timers };
};

test('no timer is left after the delays or after a stop', () => {
  const { clock, manual, timers } = timerClock(0);
  const queue = createWorkQueue({ clock });
  for (let index = 0; index < 1000; index += 1) queue.addAfter(`key-${index}`, 1000 - index);
  manual.advance(500);
  assert.equal(queue.length, 500);
  manual.advance(500);
  assert.equal(queue.length, 1000);
  assert.equal(timers.size, 0);
  queue.addAfter('late', 1000);
  queue.shutDown();
  assert.equal(timers.size, 0);
});

test('a timer that fires early releases no key early', () => {
  const { clock, manual } = timerClock(3);
  const queue = createWorkQueue({ clock });
  queue.addAfter('a', 10);
  manual.advance(9);
  assert.equal(queue.length, 0);
  manual.advance(1);
  assert.equal(queue.length, 1);
});

test('a delay of two months works, although it exceeds the limit of a timer', () => {
  const { clock, manual } = timerClock(0);
  const queue = createWorkQueue({ clock });
  const twoMonths = 60 * 24 * 3_600_000;
  queue.addAfter('a', twoMonths);
  manual.advance(twoMonths - 1);
  assert.equal(queue.length, 0);
  manual.advance(1);
  assert.equal(queue.length, 1);
});

test('shutDown releases waiting workers, ignores new keys, and lets running keys finish', async () => {
  const { clock, queue } = setUp();
  queue.add('a');
  assert.equal(await queue.get(), 'a');
  const idle = [queue.get(), queue.get()];
  queue.addAfter('later', 10);
  queue.shutDown();
  assert.deepEqual(await Promise.all(idle), [undefined, undefined]);
  queue.add('b');
  queue.addRateLimited('a');
  queue.done('a');
  clock.advance(1_000_000);
  assert.equal(queue.length, 0);
  assert.equal(await queue.get(), undefined);
});

test('an observer is called for each step, and not for calls without effect', async () => {
  const steps: string[] = [];
  const tell =
    (what: string) =>
    (key = ''): void => {
      steps.push(`${what} ${key}`.trim());
    };
  const observer: QueueObserver = {
    added: tell('added'),
    taken: tell('taken'),
    finished: tell('finished'),
    delayed: tell('delayed'),
    stopped: tell('stopped'),
  };
  const clock = manualClock(0);
  const queue = createWorkQueue({ clock, observer });
  queue.add('a');
  queue.add('a');
  await queue.get();
  queue.add('a');
  queue.done('a');
  queue.done('b');
  queue.addRateLimited('b');
  clock.advance(5);
  queue.shutDown();
  queue.shutDown();
  assert.deepEqual(steps, ['added a', 'taken a', 'added a', 'finished a', 'delayed', 'added b', 'stopped']);
});
