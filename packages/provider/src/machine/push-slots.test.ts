import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPushSlots } from './push-slots.ts';

describe('slots for pushes', () => {
  it('are as many as there are, and can be given back once (INC-11)', () => {
    const slots = createPushSlots(2);
    const first = slots.take() ?? assert.fail();
    slots.take();
    assert.equal(slots.take(), undefined);
    first();
    first();
    assert.equal(slots.taken, 1);
    assert.notEqual(slots.take(), undefined);
    assert.equal(slots.take(), undefined);
  });
});
