import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { KubeError } from '../errors/kube-error.ts';
import { countedClock } from './testing/counted-clock.ts';
import { createStream } from './testing/stream.ts';
import { readWatch } from './watch-connection.ts';

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

test('a watch that falls silent is given up', async () => {
  const { clock, stream, taken, outcome, nothingLeft } = startReading();
  clock.advance(900);
  stream.push('one');
  await setImmediate();
  clock.advance(999);
  stream.push('two');
  await setImmediate();
  clock.advance(1000);
  assert.equal(await outcome, 'silent');
  assert.deepEqual(taken, ['one', 'two']);
  nothingLeft();
});

test('what has arrived but was not read when the watch is given up is not taken in', async () => {
  const { stop, stream, taken, outcome, nothingLeft } = startReading();
  stream.push('one');
  await setImmediate();
  stream.push('two');
  stop.abort();
  await outcome;
  assert.deepEqual(taken, ['one']);
  nothingLeft();
});

test('a watch that breaks says why', async () => {
  const { stream, outcome, nothingLeft } = startReading();
  stream.break(new KubeError('unreachable', 'The connection broke.'));
  await assert.rejects(outcome, { reason: 'unreachable' });
  nothingLeft();
});

test('a stream that goes on after it has been given up is not listened to', async () => {
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
  assert.equal(await outcome, 'silent');
  assert.deepEqual(taken, [1]);
});
