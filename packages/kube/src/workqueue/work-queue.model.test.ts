import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { type ManualClock, manualClock } from '../clock/manual-clock.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

/** Small numbers, so that a few commands reach the longest backoff and an empty bucket. Tokens are counted in hundredths. */
const backoff = { baseMs: 5, maxMs: 40 };
const limiter = { perSecond: 10, burst: 2 };
const tokenPrice = 100;

class Model {
  now = 0;
  dirty = new Set<string>();
  processing = new Set<string>();
  ready: string[] = [];
  delayed: { key: string; at: number }[] = [];
  failures = new Map<string, number>();
  tokens = limiter.burst * tokenPrice;
  tokensAt = 0;
  askers = 0;
  handedOut: (string | undefined)[] = [];
  stopped = false;

  add(key: string): void {
    if (this.stopped || this.dirty.has(key)) return;
    this.dirty.add(key);
    if (!this.processing.has(key)) this.ready.push(key);
    this.serve();
  }

  /** Earliest first; equal times keep their order of arrival, because sort is stable and a moved key goes to the end. */
  addAfter(key: string, milliseconds: number): void {
    if (this.stopped) return;
    if (milliseconds <= 0) return this.add(key);
    const at = this.now + milliseconds;
    const known = this.delayed.find((entry) => entry.key === key);
    if (known && known.at <= at) return;
    this.delayed = [...this.delayed.filter((entry) => entry.key !== key), { key, at }].sort((a, b) => a.at - b.at);
  }

  retry(key: string, atLeastMs: number): void {
    if (this.stopped) return;
    const before = this.failures.get(key) ?? 0;
    this.failures.set(key, before + 1);
    this.tokens = Math.min(limiter.burst * tokenPrice, this.tokens + this.now - this.tokensAt) - tokenPrice;
    this.tokensAt = this.now;
    this.addAfter(key, Math.max(Math.min(5 * 2 ** before, 40), -this.tokens, atLeastMs));
  }

  advance(milliseconds: number): void {
    const until = this.now + milliseconds;
    for (let first = this.delayed[0]; first && first.at <= until; first = this.delayed[0]) {
      this.delayed.shift();
      this.now = first.at;
      this.add(first.key);
    }
    this.now = until;
  }

  serve(): void {
    while (this.askers > 0 && (this.ready.length > 0 || this.stopped)) {
      this.askers -= 1;
      const key = this.stopped ? undefined : this.ready.shift();
      this.handedOut.push(key);
      if (key === undefined) continue;
      this.dirty.delete(key);
      this.processing.add(key);
    }
  }
}

interface Real {
  clock: ManualClock;
  queue: WorkQueue;
  handedOut: (string | undefined)[];
  /** The keys in processing, as seen from outside. */
  held: Set<string>;
}

const compare = async (model: Model, { queue, handedOut, held }: Real): Promise<void> => {
  await setImmediate();
  assert.deepEqual(handedOut, model.handedOut);
  assert.deepEqual([...held].sort(), [...model.processing].sort());
  assert.equal(queue.length, model.ready.length);
  for (const key of keys) assert.equal(queue.numRequeues(key), model.failures.get(key) ?? 0);
};

type QueueCommand = fc.AsyncCommand<Model, Real>;
const command = (
  name: string,
  onModel: (model: Model) => void,
  onReal: (real: Real) => void,
  check: (model: Readonly<Model>) => boolean = () => true,
): QueueCommand => ({
  check,
  run: async (model, real) => {
    onModel(model);
    onReal(real);
    await compare(model, real);
  },
  toString: () => name,
});

const keys = ['a', 'b', 'c', 'd'];
const key = fc.constantFrom(...keys);

const add = key.map((k) =>
  command(
    `add ${k}`,
    (model) => model.add(k),
    ({ queue }) => queue.add(k),
  ),
);
const addAfter = fc.tuple(key, fc.integer({ min: -1, max: 60 })).map(([k, ms]) =>
  command(
    `add ${k} after ${ms}`,
    (model) => model.addAfter(k, ms),
    ({ queue }) => queue.addAfter(k, ms),
  ),
);
const retry = fc.tuple(key, fc.constantFrom(0, 0, 0, 25)).map(([k, atLeastMs]) =>
  command(
    `retry ${k} ${atLeastMs}`,
    (model) => model.retry(k, atLeastMs),
    ({ queue }) => queue.addRateLimited(k, atLeastMs),
  ),
);
const forget = key.map((k) =>
  command(
    `forget ${k}`,
    (model) => model.failures.delete(k),
    ({ queue }) => queue.forget(k),
  ),
);
const next = fc.constant(
  command(
    'next',
    (model) => {
      model.askers += 1;
      model.serve();
    },
    ({ queue, handedOut, held }) => {
      void queue.get().then((k) => {
        handedOut.push(k);
        if (k === undefined) return;
        assert.ok(!held.has(k), `two workers have ${k}`);
        held.add(k);
      });
    },
  ),
);
/** Also for keys that are not in processing: that must change nothing. */
const done = key.map((k) =>
  command(
    `done ${k}`,
    (model) => {
      if (!model.processing.delete(k) || !model.dirty.has(k)) return;
      model.ready.push(k);
      model.serve();
    },
    ({ queue, held }) => {
      held.delete(k);
      queue.done(k);
    },
  ),
);
const advance = fc.integer({ min: 0, max: 120 }).map((ms) =>
  command(
    `advance ${ms}`,
    (model) => model.advance(ms),
    ({ clock }) => clock.advance(ms),
  ),
);
const stop = fc.constant(
  command(
    'stop',
    (model) => {
      model.stopped = true;
      model.dirty.clear();
      model.ready = [];
      model.delayed = [];
      model.serve();
    },
    ({ queue }) => queue.shutDown(),
  ),
);

const anyCommands = [add, add, addAfter, retry, retry, forget, next, next, done, done, advance];

const check = (commands: fc.Arbitrary<Iterable<QueueCommand>>, runs: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(commands, async (sequence) => {
      await fc.asyncModelRun(() => {
        const clock = manualClock(0);
        const queue = createWorkQueue({ clock, backoff, limiter });
        return { model: new Model(), real: { clock, queue, handedOut: [], held: new Set<string>() } };
      }, sequence);
    }),
    { numRuns: runs },
  );

test('for any sequence of operations, the queue behaves like the model', () =>
  check(fc.commands(anyCommands, { maxCommands: 80, size: 'max' }), 600));

test('a queue that is shut down releases its workers and ignores new keys', () =>
  check(fc.commands([...anyCommands, stop], { maxCommands: 40, size: 'max' }), 300));
