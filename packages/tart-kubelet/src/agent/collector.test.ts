import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sleep } from '@tartan/kube/clock';
import { allClosed } from '../collect/testing/stage.ts';
import { vmOf } from './testing/looks.ts';
import { isRunning, onMac } from './testing/stage.ts';

describe('the collector beside the work on Pods', { timeout: 120_000 }, () => {
  it('does not delete a clone that was just made, although no list of Pods has its Pod yet (INC-26)', () =>
    onMac(
      async (stage) => {
        // Its disk is there by then, and no process works with it.
        stage.session = () => setTimeout(1500);
        let rounds = 0;
        stage.start((options) => ({
          ...options,
          openFiles: allClosed,
          client: {
            ...options.client,
            // Those of the collector are behind: the watch has told of the Pod already.
            list: async (resource, wanted) => {
              const found = await options.client.list(resource, wanted);
              if (wanted?.deadlineMs !== undefined) return found;
              rounds += 1;
              return { ...found, items: [] };
            },
          },
        }));
        const pod = await stage.pod();
        const running = await stage.until(pod, 'is Running', isRunning);
        assert.ok(rounds > 2, `it collected ${rounds} times meanwhile`);
        await sleep(stage.clock, 600_000, AbortSignal.timeout(10_000));
        assert.deepEqual(await stage.live(), [vmOf(running)]);
        assert.deepEqual(stage.tart.journal.calls('delete'), []);
      },
      { speed: 600, disableVMGC: false },
    ));
});
