import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createRateLimit } from './rate-limit.ts';

const { signal } = new AbortController();

/** The times, in milliseconds, at which requests go that arrive now. */
const createHarness = (perSecond: number) => {
  const clock = manualClock();
  const limit = createRateLimit(clock, () => 0.5, perSecond);
  const gone: [flow: string, at: number][] = [];
  const arrive = (flow: string, count: number): void => {
    for (let request = 0; request < count; request += 1)
      void limit.acquire(flow, signal).then(() => gone.push([flow, clock.monotonic()]));
  };
  const pass = async (milliseconds: number, step = 10): Promise<void> => {
    await setImmediate();
    for (let passed = 0; passed < milliseconds; passed += step) {
      clock.advance(step);
      await setImmediate();
    }
  };
  return { clock, limit, gone, arrive, pass };
};

test("a burst of one second's worth is sent at once, then one request at a time", async () => {
  const { gone, arrive, pass } = createHarness(4);
  arrive('', 6);
  await pass(1000);
  assert.deepEqual(
    gone.map(([, at]) => at),
    [0, 0, 0, 0, 250, 500],
  );
});

test('the rate may be below one per second', async () => {
  const { gone, arrive, pass } = createHarness(0.1);
  arrive('', 3);
  await pass(20_000, 500);
  assert.deepEqual(
    gone.map(([, at]) => at),
    [0, 10_000, 20_000],
  );
});

test('a request waits for at most one request of each other flow, however many those have', async () => {
  const { gone, arrive, pass } = createHarness(10);
  arrive('stuck', 500);
  arrive('other', 100);
  await pass(5000);
  arrive('claim', 1);
  const arrived = 5000;
  await pass(1000);
  const claim = gone.find(([flow]) => flow === 'claim');
  assert.ok(claim !== undefined && claim[1] - arrived <= 300, `it waited for ${(claim?.[1] ?? Infinity) - arrived} ms`);
});

test('a request whose signal fires leaves with the reason of its signal, and costs nothing', async () => {
  const { limit, gone, arrive, pass } = createHarness(1);
  const left = new AbortController();
  arrive('', 1);
  const rejected = assert.rejects(limit.acquire('', left.signal), /enough/);
  arrive('', 1);
  left.abort(new Error('enough'));
  await rejected;
  await pass(1000);
  assert.equal(gone.length, 2);
});

test('a pause ends, is not shortened by a shorter one, and lasts at most a minute', () => {
  const { clock, limit } = createHarness(4);
  assert.equal(limit.pausedFor(), 0);
  limit.pause(5000);
  limit.pause(1000);
  assert.equal(limit.pausedFor(), 5000);
  clock.advance(5000);
  assert.equal(limit.pausedFor(), 0);
  limit.pause(3_600_000);
  assert.equal(limit.pausedFor(), 60_000);
});
