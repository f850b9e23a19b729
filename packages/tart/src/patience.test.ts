import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { manualClock } from '@tartan/kube/clock';
import { whileMoving, within } from './patience.ts';

describe('patience', () => {
  test('within a time: over once, unless it has ended', () => {
    const clock = manualClock();
    let over = 0;
    const counting = within(1000).start(clock, () => over++);
    counting.moved();
    clock.advance(999);
    assert.equal(over, 0);
    clock.advance(1);
    assert.equal(over, 1);
    within(1000)
      .start(clock, () => over++)
      .end();
    clock.advance(5000);
    assert.equal(over, 1);
  });

  test('while something moves: output, or what it works on, keep it alive for any time (G22)', async () => {
    const clock = manualClock();
    let over = 0;
    let picture = 'a';
    const counting = whileMoving(1000, async () => picture).start(clock, () => over++);
    const pass = async (): Promise<void> => {
      await setImmediate();
      clock.advance(1000);
      await setImmediate();
    };
    for (let hour = 0; hour < 50; hour++) {
      if (hour % 2 === 0) counting.moved();
      else picture += 'b';
      await pass();
    }
    assert.equal(over, 0);
    await pass();
    await pass();
    assert.equal(over, 1);
    counting.end();
  });
});
