import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPushSlots, createRunningPushes } from './running-pushes.ts';

describe('push slots', () => {
  it('are limited, and releasing one twice frees one (INC-11)', () => {
    const slots = createPushSlots(2);
    const first = slots.acquire('a') ?? assert.fail();
    slots.acquire('b');
    assert.equal(slots.acquire('c'), undefined);
    first();
    first();
    assert.notEqual(slots.acquire('c'), undefined);
    assert.equal(slots.acquire('d'), undefined);
  });

  it('wake those that wait, one for each that becomes free, in the order in which they came', () => {
    const slots = createPushSlots(1);
    const woken: string[] = [];
    const unsubscribe = slots.subscribe((key) => woken.push(key));
    const acquire = (key: string): (() => void) => slots.acquire(key) ?? assert.fail();
    const release = acquire('a');
    for (const key of ['b', 'c', 'b', 'd', 'e']) assert.equal(slots.acquire(key), undefined);
    slots.forget('c');
    assert.deepEqual(woken, []);
    release();
    release();
    assert.deepEqual(woken.splice(0), ['b']);
    acquire('b')();
    assert.deepEqual(woken.splice(0), ['d']);
    // The next one came by itself, before it was woken.
    acquire('e')();
    assert.deepEqual(woken.splice(0), []);
    unsubscribe();
    const last = acquire('f');
    slots.acquire('g');
    last();
    assert.deepEqual(woken, []);
  });
});

const untilEnded = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    const end = (): void => resolve('ended');
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true });
  });

describe('a running push', () => {
  it('is cancelled when its own machine is deleted, not when another one is', async () => {
    const pushes = createRunningPushes();
    const push = pushes.run('a', new AbortController().signal, untilEnded);
    pushes.cancel('b');
    pushes.cancel('a');
    assert.equal(await push, 'ended');
  });

  it('is cancelled at once when its machine is already being deleted', async () => {
    const pushes = createRunningPushes();
    pushes.cancel('a');
    assert.equal(await pushes.run('a', new AbortController().signal, untilEnded), 'ended');
  });

  it('is cancelled when the process stops', async () => {
    const process = new AbortController();
    const push = createRunningPushes().run('a', process.signal, untilEnded);
    process.abort();
    assert.equal(await push, 'ended');
  });
});
