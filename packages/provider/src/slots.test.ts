import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSlots } from './slots.ts';

describe('slots', () => {
  it('are limited, and releasing one twice frees one (INC-11)', () => {
    const slots = createSlots(2);
    const first = slots.acquire('a') ?? assert.fail();
    slots.acquire('b');
    assert.equal(slots.acquire('c'), undefined);
    first();
    first();
    assert.notEqual(slots.acquire('c'), undefined);
    assert.equal(slots.acquire('d'), undefined);
  });

  it('wake those that wait, one for each that becomes free, in the order in which they came', () => {
    const slots = createSlots(1);
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
    assert.equal(slots.acquire('f'), undefined, 'the slot is kept for the one that was woken');
    acquire('d')();
    assert.deepEqual(woken.splice(0), ['e']);
    unsubscribe();
    acquire('e')();
    assert.deepEqual(woken, []);
  });

  it('wake the next one if the machine that was woken does not need it', () => {
    const slots = createSlots(1);
    const woken: string[] = [];
    slots.subscribe((key) => woken.push(key));
    const release = slots.acquire('a') ?? assert.fail();
    for (const key of ['b', 'c', 'd']) assert.equal(slots.mustWait(key), true);
    release();
    slots.passEnded('a');
    assert.deepEqual(woken, ['b']);
    slots.passEnded('b');
    assert.deepEqual(woken, ['b', 'c']);
    slots.passEnded('c');
    assert.deepEqual(woken, ['b', 'c', 'd']);
    assert.equal(slots.mustWait('d'), false);
    const last = slots.acquire('d') ?? assert.fail();
    slots.passEnded('d');
    assert.deepEqual([slots.mustWait('e'), woken.length], [true, 3], 'a pass that got the slot passes nothing on');
    last();
    assert.deepEqual(woken, ['b', 'c', 'd', 'e']);
  });

  it('are not kept for a machine that an earlier run of the controller woke', () => {
    const slots = createSlots(1);
    const release = slots.acquire('a') ?? assert.fail();
    slots.mustWait('b');
    release();
    assert.equal(slots.mustWait('c'), true);
    slots.subscribe(() => {});
    assert.equal(slots.mustWait('c'), false);
  });
});
