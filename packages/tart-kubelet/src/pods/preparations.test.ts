import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createPreparations, type Prepared } from './preparations.ts';

const ready = (...skipped: string[]): Prepared => ({
  kind: 'ready',
  shares: [],
  skipped,
  slots: { total: 2, ofOthers: 0 },
});
const never = async (): Promise<Prepared> => assert.fail('it was prepared already');

describe('what a start needs, prepared while its disk is cloned', () => {
  it('is there when it is asked for, and only once', async () => {
    const preparations = createPreparations(manualClock());
    preparations.begin('a', async () => ready('early'));
    assert.deepEqual(await preparations.take('a', never), ready('early'));
    assert.deepEqual(await preparations.take('a', async () => ready('late')), ready('late'));
  });

  it('is prepared anew when it is too old to say how things are', async () => {
    const clock = manualClock();
    const preparations = createPreparations(clock);
    preparations.begin('a', async () => ready('early'));
    clock.advance(15_001);
    assert.deepEqual(await preparations.take('a', async () => ready('late')), ready('late'));
  });

  it('never lets two at the same folder, and a failure is told to whoever takes it', async () => {
    const preparations = createPreparations(manualClock());
    const steps: string[] = [];
    const first = Promise.withResolvers<Prepared>();
    preparations.begin('a', () => first.promise.finally(() => steps.push('first')));
    preparations.begin('a', async () => {
      steps.push('second');
      throw new Error('no answer');
    });
    first.reject(new Error('nobody hears this'));
    await assert.rejects(preparations.take('a', never), /no answer/);
    assert.deepEqual(steps, ['first', 'second']);
    preparations.begin('b', async () => Promise.reject(new Error('nor this')));
    await preparations.drop('b');
  });
});
