import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { manualClock } from '../clock/manual-clock.ts';
import { settle } from '../clock/testing/real-time.ts';
import { createRequestLimiter, type Place, type RequestLimits } from './request-limiter.ts';

const kind = { name: 'get pods', method: 'GET' };

/** Records who gets a place, in order. */
const harness = (limits: Partial<RequestLimits> = {}) => {
  const clock = manualClock();
  /** What was reported, in milliseconds. */
  const waits: number[] = [];
  const limiter = createRequestLimiter({
    clock,
    random: () => 0,
    qps: 1000,
    burst: 1000,
    maxInFlight: 1000,
    ...limits,
    onWait: (_, milliseconds) => waits.push(milliseconds),
  });
  const entered: string[] = [];
  const places: Place[] = [];
  const request = (flow: string, name: string, signal = new AbortController().signal): Promise<void> =>
    limiter
      .flow(flow)
      .acquire(kind, signal)
      .then((place) => {
        entered.push(name);
        places.push(place);
      });
  return { clock, limiter, entered, places, waits, request };
};

describe('the request limiter', () => {
  test('lets as many requests in flight as allowed, and the next one when a place is released', async () => {
    const { entered, places, request } = harness({ maxInFlight: 2 });
    for (const name of ['a', 'b', 'c', 'd']) void request('machine', name);
    await settle();
    assert.deepEqual(entered, ['a', 'b']);
    places[0]?.release();
    places[0]?.release();
    await settle();
    assert.deepEqual(entered, ['a', 'b', 'c']);
  });

  test('lets a burst go at once, then as many a second as allowed', async () => {
    const { clock, entered, request } = harness({ qps: 10, burst: 3 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) void request('machine', name);
    await settle();
    assert.deepEqual(entered, ['a', 'b', 'c']);
    clock.advance(99);
    await settle();
    assert.deepEqual(entered, ['a', 'b', 'c']);
    clock.advance(1);
    await settle();
    assert.deepEqual(entered, ['a', 'b', 'c', 'd']);
    clock.advance(100);
    await settle();
    assert.deepEqual(entered, ['a', 'b', 'c', 'd', 'e']);
  });

  test('lets flows take turns: one request of the sweep does not wait for a thousand machines', async () => {
    const { entered, places, request } = harness({ maxInFlight: 1 });
    for (let machine = 0; machine < 1000; machine++) void request('machine', 'machine');
    void request('sweep', 'sweep 1');
    void request('fleet', 'fleet');
    void request('sweep', 'sweep 2');
    for (let released = 0; released < 8; released++) {
      await settle(2);
      places[released]?.release();
    }
    await settle();
    const expected = ['machine', 'machine', 'sweep 1', 'fleet', 'machine', 'sweep 2', 'machine', 'machine', 'machine'];
    assert.deepEqual(entered, expected);
  });

  test('a request whose signal fires leaves the queue and takes no token', async () => {
    const { clock, entered, request } = harness({ qps: 1, burst: 1 });
    const abort = new AbortController();
    void request('machine', 'a');
    const gone = assert.rejects(request('machine', 'b', abort.signal), { reason: 'aborted' });
    void request('machine', 'c');
    abort.abort();
    await gone;
    clock.advance(1000);
    await settle();
    assert.deepEqual(entered, ['a', 'c']);
    await assert.rejects(request('machine', 'd', abort.signal), { reason: 'aborted' });
  });

  test('a token that was waited for in vain serves the next request', async () => {
    const { clock, entered, request } = harness({ qps: 1, burst: 1 });
    const abort = new AbortController();
    void request('machine', 'a');
    const gone = assert.rejects(request('machine', 'b', abort.signal));
    abort.abort();
    await gone;
    clock.advance(1000);
    void request('machine', 'c');
    await settle();
    assert.deepEqual(entered, ['a', 'c']);
  });

  test('reports how long each request waited for a token or a place, also when it gives up', async () => {
    const { clock, places, waits, request } = harness({ qps: 1, burst: 1, maxInFlight: 2 });
    const abort = new AbortController();
    for (const name of ['a', 'b', 'c']) void request('machine', name);
    const gone = assert.rejects(request('machine', 'd', abort.signal));
    await settle();
    assert.deepEqual(waits, [0]);
    clock.advance(1000);
    await settle();
    assert.deepEqual(waits, [0, 1000], 'a token');
    clock.advance(4000);
    places[0]?.release();
    await settle();
    assert.deepEqual(waits, [0, 1000, 5000], 'a place');
    clock.advance(2000);
    abort.abort();
    await gone;
    assert.deepEqual(waits, [0, 1000, 5000, 7000], 'in vain');
  });

  test('does not report a pause that the server asked for', async () => {
    const { clock, places, waits, request } = harness({ qps: 1, burst: 1 });
    const abort = new AbortController();
    void request('machine', 'a');
    await settle();
    places[0]?.refused('kind', 60_000);
    void request('machine', 'b');
    const gone = assert.rejects(request('machine', 'c', abort.signal));
    clock.advance(30_000);
    abort.abort();
    await gone;
    clock.advance(30_000);
    void request('machine', 'd');
    await settle();
    assert.deepEqual(waits, [0, 0, 0]);
    clock.advance(1000);
    places[1]?.release();
    await settle();
    assert.deepEqual(waits, [0, 0, 0, 1000], 'the pause is over: the limit of this process counts again');
  });
});

/** Any mix of arrivals, releases, aborts and time. */
type Step =
  | { kind: 'arrive'; flow: string }
  | { kind: 'release'; index: number }
  | { kind: 'abort'; index: number }
  | { kind: 'advance'; ms: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'c').map((flow) => ({ kind: 'arrive' as const, flow })) },
    { weight: 3, arbitrary: fc.nat(20).map((index) => ({ kind: 'release' as const, index })) },
    fc.nat(20).map((index) => ({ kind: 'abort' as const, index })),
    fc.nat(500).map((ms) => ({ kind: 'advance' as const, ms })),
  ),
  { maxLength: 60 },
);

test('no mix of requests exceeds a limit, overtakes within a flow, starves a flow, or is forgotten', async () => {
  const limits = fc.record({
    qps: fc.integer({ min: 1, max: 50 }),
    burst: fc.integer({ min: 1, max: 5 }),
    maxInFlight: fc.integer({ min: 1, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(limits, steps, async (given, sequence) => {
      const clock = manualClock();
      const limiter = createRequestLimiter({ clock, random: () => 0, ...given });
      interface Waiting {
        flow: string;
        number: number;
        abort: AbortController;
        /** Requests of the same flow that were before it. */
        before: number;
        overtaken: Map<string, number>;
      }
      const waiting: Waiting[] = [];
      const failures: unknown[] = [];
      const places: Place[] = [];
      const entries: number[] = [];
      let number = 0;

      const enter = (flow: string, own: number, place: Place): void => {
        const index = waiting.findIndex((each) => each.number === own);
        assert.ok(index >= 0, 'an aborted request got a place');
        waiting.splice(index, 1);
        for (const each of waiting) {
          if (each.flow === flow) {
            assert.ok(each.number > own, 'overtaken within its flow');
            continue;
          }
          const times = (each.overtaken.get(flow) ?? 0) + 1;
          each.overtaken.set(flow, times);
          assert.ok(times <= each.before + 1, `overtaken ${times} times by ${flow}`);
        }
        places.push(place);
        entries.push(clock.monotonic());
        assert.ok(places.length <= given.maxInFlight, 'too many in flight');
        const since = clock.monotonic() - 1000;
        const lately = entries.filter((at) => at > since).length;
        assert.ok(lately <= given.burst + given.qps, `${lately} requests within a second`);
      };

      for (const step of sequence) {
        if (step.kind === 'arrive') {
          const [own, abort] = [number++, new AbortController()];
          const before = waiting.filter(({ flow }) => flow === step.flow).length;
          waiting.push({ flow: step.flow, number: own, abort, before, overtaken: new Map() });
          limiter
            .flow(step.flow)
            .acquire(kind, abort.signal)
            .then((place) => enter(step.flow, own, place))
            .catch((error: unknown) => abort.signal.aborted || failures.push(error));
        } else if (step.kind === 'release') places.splice(step.index, 1)[0]?.release();
        else if (step.kind === 'abort') waiting.splice(step.index, 1)[0]?.abort.abort();
        else clock.advance(step.ms);
        await settle(1);
      }
      for (let round = 0; waiting.length > 0 && round < 200; round++) {
        places.splice(0).forEach(({ release }) => release());
        clock.advance(1000);
        await settle(1);
      }
      assert.deepEqual(failures, []);
      assert.deepEqual(waiting, [], 'forgotten');
    }),
    { numRuns: 300 },
  );
});
