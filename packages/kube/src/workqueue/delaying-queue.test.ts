import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createDeadlineHeap } from './delaying-queue.ts';

const entries = fc.array(fc.record({ key: fc.constantFrom(...'abcdefghijklmnop'.split('')), at: fc.nat(20) }), {
  maxLength: 60,
});

test('deadlines come off in order of time, then of arrival, and the earliest of a key counts', () => {
  fc.assert(
    fc.property(entries, (puts) => {
      const heap = createDeadlineHeap();
      const model = new Map<string, { at: number; order: number }>();
      for (const [order, { key, at }] of puts.entries()) {
        heap.put(key, at);
        const known = model.get(key);
        if (!known || at < known.at) model.set(key, { at, order });
      }
      assert.equal(heap.size, model.size);
      const taken = [];
      for (let first = heap.take(); first; first = heap.take()) taken.push([first.key, first.at]);
      const expected = [...model].sort(([, a], [, b]) => a.at - b.at || a.order - b.order);
      assert.deepEqual(
        taken,
        expected.map(([key, { at }]) => [key, at]),
      );
    }),
  );
});

test('puts and takes in any mix keep the order', () => {
  const steps = fc.array(fc.oneof(fc.nat(50), fc.constant('take' as const)), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (mixed) => {
      const heap = createDeadlineHeap();
      let left: number[] = [];
      for (const [index, step] of mixed.entries()) {
        if (step === 'take') {
          left = left.sort((a, b) => a - b);
          assert.equal(heap.take()?.at, left.shift());
        } else {
          heap.put(`key-${index}`, step);
          left.push(step);
        }
      }
      assert.equal(heap.size, left.length);
    }),
  );
});

test('nothing is left after clear', () => {
  const heap = createDeadlineHeap();
  heap.put('a', 1);
  heap.clear();
  assert.equal(heap.first(), undefined);
  heap.put('a', 2);
  assert.equal(heap.take()?.at, 2);
});
