import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import type { VmRecord } from '../journal/record.ts';
import { createPreparations, type Prepared } from './preparations.ts';

const ready = (...skipped: string[]): Extract<Prepared, { kind: 'ready' }> => ({
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

  it('leaves no draft behind that nobody takes; whoever takes it has it', async () => {
    const clock = manualClock();
    const preparations = createPreparations(clock);
    const discarded: string[] = [];
    const record: VmRecord = {
      version: 1,
      vm: 'vm',
      pod: { uid: 'a', namespace: 'ns', name: 'a' },
      image: { reference: '' },
      createdAt: 0,
      run: 0,
      state: { kind: 'starting', at: 0 },
    };
    const drafted = (name: string) => async (): Promise<Prepared> => ({
      ...ready(),
      starting: { record, commit: async () => {}, discard: async () => void discarded.push(name) },
    });
    preparations.begin('a', drafted('taken'));
    await preparations.take('a', never);
    preparations.begin('a', drafted('dropped'));
    await preparations.drop('a');
    preparations.begin('a', drafted('replaced'));
    preparations.begin('a', drafted('too old'));
    clock.advance(15_001);
    await preparations.take('a', async () => ready('late'));
    assert.deepEqual(discarded, ['dropped', 'replaced', 'too old']);
  });
});
