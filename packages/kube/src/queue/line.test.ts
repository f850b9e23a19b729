import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLine } from './line.ts';

test('a line behaves as an array with push and shift', () => {
  const steps = fc.array(fc.oneof({ weight: 3, arbitrary: fc.nat() }, { weight: 2, arbitrary: fc.constant('shift') }), {
    maxLength: 400,
    size: 'max',
  });
  fc.assert(
    fc.property(steps, (mixed) => {
      const line = createLine<number>();
      const model: number[] = [];
      for (const step of mixed) {
        if (typeof step === 'string') assert.equal(line.shift(), model.shift());
        else {
          line.push(step);
          model.push(step);
        }
        assert.equal(line.length, model.length);
      }
      assert.deepEqual(line.clear(), model);
      assert.equal(line.length, 0);
    }),
  );
});
