import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from './clock/index.ts';
import { createSharedReads } from './shared-reads.ts';

const createHarness = () => {
  const clock = manualClock();
  const reads = createSharedReads<string>(clock);
  const started: { readonly signal: AbortSignal; end(answer: string): void; fail(error: Error): void }[] = [];
  const start = (signal: AbortSignal): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    signal.addEventListener('abort', () => reject(signal.reason));
    started.push({ signal, end: resolve, fail: reject });
    return promise;
  };
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  return {
    clock,
    reads,
    started,
    settled,
    read: (maxAgeMs?: number, signal?: AbortSignal) => reads.read('key', { maxAgeMs, signal }, start),
  };
};

describe('shared reads', () => {
  test('a finished answer is used as long as it is new enough', async () => {
    const { clock, started, read } = createHarness();
    const first = read(1000);
    started[0]?.end('one');
    assert.equal(await first, 'one');
    clock.advance(1000);
    assert.equal(await read(1000), 'one');
    clock.advance(1);
    const second = read(1000);
    started[1]?.end('two');
    assert.equal(await second, 'two');
    assert.equal(started.length, 2);
  });

  test('the age counts from the begin of the read, not from its end', async () => {
    const { clock, started, read } = createHarness();
    const slow = read(1000);
    clock.advance(5000);
    started[0]?.end('one');
    await slow;
    void read(1000);
    assert.equal(started.length, 2);
  });

  test('callers without an age get a read that begins after their call, and share it', async () => {
    const { started, read, settled } = createHarness();
    const first = read();
    const others = [read(), read(), read()];
    await settled();
    assert.equal(started.length, 1, 'one read at a time');
    started[0]?.end('one');
    assert.equal(await first, 'one');
    await settled();
    assert.equal(started.length, 2);
    started[1]?.end('two');
    assert.deepEqual(await Promise.all(others), ['two', 'two', 'two']);
    assert.equal(started.length, 2);
  });

  test('a failure goes to those who wait for it, and the next caller reads again', async () => {
    const { started, read, settled } = createHarness();
    const both = [read(1000), read(1000)];
    const later = read();
    started[0]?.fail(new Error('no'));
    for (const each of both) await assert.rejects(each, /no/);
    await settled();
    started[1]?.end('two');
    assert.equal(await later, 'two');
  });

  test('a caller that leaves does not end the read of the others; the last one does', async () => {
    const { started, read } = createHarness();
    const [one, other] = [new AbortController(), new AbortController()];
    const calls = [read(1000, one.signal), read(1000, other.signal)];
    one.abort(new Error('left'));
    await assert.rejects(calls[0] ?? Promise.resolve(), /left/);
    assert.equal(started[0]?.signal.aborted, false);
    other.abort(new Error('left too'));
    await assert.rejects(calls[1] ?? Promise.resolve(), /left too/);
    assert.equal(started[0]?.signal.aborted, true);
    void read(1000);
    assert.equal(started.length, 2, 'an aborted read is not joined');
  });

  test('an answer from before `clear` is not used after it', async () => {
    const { started, reads, read } = createHarness();
    const first = read(1000);
    reads.clear();
    const second = read(1000);
    started[0]?.end('old');
    started[1]?.end('new');
    assert.deepEqual(await Promise.all([first, second]), ['old', 'new']);
    assert.equal(await read(1000), 'new');
  });

  test('a call that was aborted before starts nothing', async () => {
    const { started, read } = createHarness();
    await assert.rejects(read(0, AbortSignal.abort(new Error('stop'))), /stop/);
    assert.equal(started.length, 0);
  });
});
