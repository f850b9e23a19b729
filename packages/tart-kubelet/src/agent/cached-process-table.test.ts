import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { cacheProcessTable } from './create-agent.ts';

describe('the cached process table', () => {
  it('returns the last list while it is fresh; a failed list is not cached', async () => {
    const clock = manualClock();
    let looks = 0;
    let fails = false;
    const table = cacheProcessTable(
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
    const seen = async (): Promise<number | undefined> => (await table.cachedList())[0]?.pid;
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
