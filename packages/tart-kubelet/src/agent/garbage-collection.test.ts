import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sleep } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { allClosed } from '../gc/testing/harness.ts';
import { isRunning, withMac } from './testing/harness.ts';
import { vmNameOf } from './testing/pod-checks.ts';

describe('garbage collection while Pods start', { timeout: 120_000 }, () => {
  it('does not delete a new clone whose Pod is not in the Pod list yet (INC-26)', () =>
    withMac(
      async (harness) => {
        let rounds = 0;
        // By then the disk exists, and no process uses it.
        harness.session = () => eventually('it has collected three times', () => rounds > 2).then(() => {});
        harness.startAgent((options) => ({
          ...options,
          openFiles: allClosed,
          client: {
            ...options.client,
            // The collector's lists are stale: the watch has delivered the Pod already.
            list: async (resource, wanted) => {
              const found = await options.client.list(resource, wanted);
              if (wanted?.deadlineMs !== undefined) return found;
              rounds += 1;
              return { ...found, items: [] };
            },
          },
        }));
        const pod = await harness.pod();
        const running = await harness.waitForPod(pod, 'is Running', isRunning);
        await sleep(harness.clock, 600_000);
        assert.deepEqual(await harness.runningVms(), [vmNameOf(running)]);
        assert.deepEqual(harness.tart.journal.calls('delete'), []);
      },
      { speed: 600, disableVMGC: false },
    ));
});
