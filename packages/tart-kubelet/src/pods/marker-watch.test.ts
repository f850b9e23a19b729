import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { type Markers, noMarkers } from '../guest/markers.ts';
import { createMarkerWatch } from './marker-watch.ts';

const ready: Markers = { ready: 'there', jobStarted: 'missing' };
const job: Markers = { ready: 'there', jobStarted: 'there' };

describe('what runners in guests say', () => {
  const stage = () => {
    const clock = manualClock();
    const told: string[] = [];
    const state = { now: noMarkers, looks: 0 };
    const watch = createMarkerWatch({
      read: async () => {
        state.looks += 1;
        return state.now;
      },
      changed: (uid) => told.push(uid),
      clock,
    });
    const pass = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second += 1) {
        clock.advance(1000);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    return { watch, told, state, pass };
  };

  it('is looked for every two seconds, and told once when it is new', async () => {
    const { watch, told, state, pass } = stage();
    watch.watch('a', 'vm', noMarkers);
    await pass(10);
    assert.deepEqual([told, state.looks], [[], 5]);
    state.now = ready;
    await pass(2);
    assert.deepEqual(told, ['a']);
    watch.watch('a', 'vm', ready);
    await pass(10);
    assert.deepEqual(told, ['a']);
    state.now = job;
    await pass(2);
    assert.deepEqual(told, ['a', 'a']);
    watch.stop();
  });

  it('is told again to whoever saw something else meanwhile', async () => {
    const { watch, told, state, pass } = stage();
    state.now = ready;
    watch.watch('a', 'vm', noMarkers);
    await pass(2);
    watch.watch('a', 'vm', noMarkers);
    await pass(2);
    assert.deepEqual(told, ['a', 'a']);
    watch.stop();
  });

  it('is not looked for any more once nobody wants to hear of it', async () => {
    const { watch, told, state, pass } = stage();
    watch.watch('a', 'vm', noMarkers);
    watch.watch('b', 'vm', noMarkers);
    watch.forget('a');
    state.now = ready;
    await pass(2);
    assert.deepEqual([told, state.looks], [['b'], 1]);
    watch.stop();
    await pass(10);
    assert.equal(state.looks, 1);
  });
});
