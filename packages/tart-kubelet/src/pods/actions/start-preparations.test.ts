import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import type { VmRecord } from '../../journal/journal.ts';
import { createStartPreparations, type PreparedStart } from './start.ts';

const ready = (...skipped: string[]): Extract<PreparedStart, { kind: 'ready' }> => ({
  kind: 'ready',
  shares: [],
  skipped,
  slots: { total: 2, usedByOthers: 0 },
});
const never = async (): Promise<PreparedStart> => assert.fail('it was prepared already');

describe('start preparations during the clone', () => {
  it('are returned once', async () => {
    const preparations = createStartPreparations(manualClock());
    preparations.begin('a', async () => ready('early'));
    assert.deepEqual(await preparations.take('a', never), ready('early'));
    assert.deepEqual(await preparations.take('a', async () => ready('late')), ready('late'));
  });

  it('are repeated when they are too old', async () => {
    const clock = manualClock();
    const preparations = createStartPreparations(clock);
    preparations.begin('a', async () => ready('early'));
    clock.advance(15_001);
    assert.deepEqual(await preparations.take('a', async () => ready('late')), ready('late'));
  });

  it('never run twice at once for a Pod, and reject to the caller that takes them', async () => {
    const preparations = createStartPreparations(manualClock());
    const steps: string[] = [];
    const first = Promise.withResolvers<PreparedStart>();
    preparations.begin('a', () => first.promise.finally(() => steps.push('first')));
    preparations.begin('a', async () => {
      steps.push('second');
      throw new Error('no answer');
    });
    first.reject(new Error('nobody hears this'));
    await assert.rejects(preparations.take('a', never), /no answer/);
    assert.deepEqual(steps, ['first', 'second']);
    preparations.begin('b', async () => Promise.reject(new Error('nor this')));
    await preparations.cancel('b');
  });

  it('discard the journal draft when they are cancelled', async () => {
    const clock = manualClock();
    const preparations = createStartPreparations(clock);
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
    const drafted = (name: string) => async (): Promise<PreparedStart> => ({
      ...ready(),
      starting: { record, commit: async () => {}, discard: async () => void discarded.push(name) },
    });
    preparations.begin('a', drafted('taken'));
    await preparations.take('a', never);
    preparations.begin('a', drafted('dropped'));
    await preparations.cancel('a');
    preparations.begin('a', drafted('replaced'));
    preparations.begin('a', drafted('too old'));
    clock.advance(15_001);
    await preparations.take('a', async () => ready('late'));
    assert.deepEqual(discarded, ['dropped', 'replaced', 'too old']);
  });
});
