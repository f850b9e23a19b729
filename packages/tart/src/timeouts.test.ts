import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { manualClock } from '@tartan/kube/clock';
import { deadline, stallTimeout } from './timeouts.ts';

describe('timeouts of tart commands', () => {
  test('a deadline fires once, unless the command has ended', () => {
    const clock = manualClock();
    let over = 0;
    const counting = deadline(1000).start(clock, () => over++);
    counting.progressed();
    clock.advance(999);
    assert.equal(over, 0);
    clock.advance(1);
    assert.equal(over, 1);
    deadline(1000)
      .start(clock, () => over++)
      .stop();
    clock.advance(5000);
    assert.equal(over, 1);
  });

  test('a stall timeout does not fire while output or downloaded files change (INC-422)', async () => {
    const clock = manualClock();
    let over = 0;
    let picture = 'a';
    const counting = stallTimeout(1000, async () => picture).start(clock, () => over++);
    const pass = async (): Promise<void> => {
      await setImmediate();
      clock.advance(1000);
      await setImmediate();
    };
    for (let hour = 0; hour < 50; hour++) {
      if (hour % 2 === 0) counting.progressed();
      else picture += 'b';
      await pass();
    }
    assert.equal(over, 0);
    await pass();
    await pass();
    assert.equal(over, 1);
    counting.stop();
  });
});
