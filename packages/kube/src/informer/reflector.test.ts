import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { KubeError } from '../errors/kube-error.ts';
import { readWatch, startInactivityTimer } from './reflector.ts';
import { countedClock } from './testing/counted-clock.ts';
import { createStream } from './testing/stream.ts';

const startReading = () => {
  const clock = countedClock();
  const stop = new AbortController();
  const stream = createStream<string>();
  const taken: string[] = [];
  let open = 0;
  const outcome = readWatch<string>({
    open: async function* (signal) {
      open++;
      try {
        yield* stream.read(signal);
      } finally {
        open--;
      }
    },
    take: (event) => taken.push(event),
    clock,
    inactivityMs: 1000,
    signal: stop.signal,
  });
  const nothingLeft = (): void => {
    const listeners = getEventListeners(stop.signal, 'abort').length;
    assert.deepEqual({ open, timers: clock.timers, listeners }, { open: 0, timers: 0, listeners: 0 });
  };
  return { clock, stop, stream, taken, outcome, nothingLeft };
};

test('a watch is read to its end', async () => {
  const { stream, taken, outcome, nothingLeft } = startReading();
  stream.push('one');
  stream.push('two');
  stream.end();
  assert.equal(await outcome, 'ended');
  assert.deepEqual(taken, ['one', 'two']);
  nothingLeft();
});

test('an inactive watch is closed', async () => {
  const { clock, stream, taken, outcome, nothingLeft } = startReading();
  clock.advance(900);
  stream.push('one');
  await setImmediate();
  clock.advance(999);
  stream.push('two');
  await setImmediate();
  clock.advance(1000);
  assert.equal(await outcome, 'inactive');
  assert.deepEqual(taken, ['one', 'two']);
  nothingLeft();
});

test('events that were buffered when the watch was closed are dropped', async () => {
  const { stop, stream, taken, outcome, nothingLeft } = startReading();
  stream.push('one');
  await setImmediate();
  stream.push('two');
  stop.abort();
  await outcome;
  assert.deepEqual(taken, ['one']);
  nothingLeft();
});

test('a broken watch rejects with its error', async () => {
  const { stream, outcome, nothingLeft } = startReading();
  stream.break(new KubeError('unreachable', 'The connection broke.'));
  await assert.rejects(outcome, { reason: 'unreachable' });
  nothingLeft();
});

test('a stream that continues after it was closed is ignored', async () => {
  const clock = countedClock();
  const taken: number[] = [];
  const outcome = readWatch<number>({
    open: async function* () {
      yield 1;
      clock.advance(1000);
      yield 2;
      yield 3;
    },
    take: (event) => taken.push(event),
    clock,
    inactivityMs: 1000,
    signal: new AbortController().signal,
  });
  assert.equal(await outcome, 'inactive');
  assert.deepEqual(taken, [1]);
});

test('the timer fires once, after the full limit since the last reset', () => {
  const clock = countedClock();
  let silences = 0;
  const guard = startInactivityTimer(clock, 1000, () => silences++);
  clock.advance(900);
  guard.reset();
  clock.advance(999);
  assert.equal(silences, 0);
  clock.advance(1);
  assert.equal(silences, 1);
  clock.advance(10_000);
  assert.equal(silences, 1);
  assert.equal(clock.timers, 0);
});

test('reset sets no further timer, and stop leaves none', () => {
  const clock = countedClock();
  const guard = startInactivityTimer(clock, 1000, () => assert.fail('not silent'));
  for (let event = 0; event < 100; event++) guard.reset();
  assert.equal(clock.timers, 1);
  clock.advance(1);
  guard.reset();
  clock.advance(999);
  assert.equal(clock.timers, 1);
  guard.stop();
  assert.equal(clock.timers, 0);
});
