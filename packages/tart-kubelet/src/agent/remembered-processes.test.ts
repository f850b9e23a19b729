import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { rememberProcesses } from './remembered-processes.ts';

describe('the processes of a Mac, remembered', () => {
  it('are those of the last look for a while; a look that failed is none', async () => {
    const clock = manualClock();
    let looks = 0;
    let fails = false;
    const table = rememberProcesses(
      {
        list: async () => {
          if (fails) throw new Error('no answer');
          looks += 1;
          return [{ pid: looks, startedAt: 0, command: 'x' }];
        },
        find: async () => undefined,
      },
      clock,
    );
    const seen = async (): Promise<number | undefined> => (await table.recent())[0]?.pid;
    assert.equal(await seen(), 1);
    clock.advance(15_000);
    assert.equal(await seen(), 1);
    assert.equal((await table.list())[0]?.pid, 2);
    assert.equal(await seen(), 2);
    clock.advance(15_001);
    fails = true;
    await assert.rejects(seen(), /no answer/);
    fails = false;
    assert.equal(await seen(), 3);
  });
});
