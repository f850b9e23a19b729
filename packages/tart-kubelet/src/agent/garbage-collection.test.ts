import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sleep } from '@tartan/kube/clock';
import { allClosed } from '../gc/testing/harness.ts';
import { isRunning, withMac } from './testing/harness.ts';
import { vmNameOf } from './testing/pod-checks.ts';

describe('garbage collection while Pods start', { timeout: 120_000 }, () => {
  it('does not delete a new clone whose Pod is not in the Pod list yet (INC-26)', () =>
    withMac(
      async (stage) => {
        // Its disk is there by then, and no process works with it.
        stage.session = () => setTimeout(1500);
        let rounds = 0;
        stage.startAgent((options) => ({
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
        const running = await stage.waitForPod(pod, 'is Running', isRunning);
        assert.ok(rounds > 2, `it collected ${rounds} times meanwhile`);
        await sleep(stage.clock, 600_000, AbortSignal.timeout(10_000));
        assert.deepEqual(await stage.runningVms(), [vmNameOf(running)]);
        assert.deepEqual(stage.tart.journal.calls('delete'), []);
      },
      { speed: 600, disableVMGC: false },
    ));
});
