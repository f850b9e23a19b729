import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { finalizers } from '@tartan/api';
import {
  type Client,
  createLogger,
  done,
  KubeError,
  type ReconcileResult,
  requeueAfter,
  type Resource,
} from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { finalizerRemovedEvent, releasePod } from './act.ts';
import { createMissingNodeTracker } from './missing-nodes.ts';

const graceMs = 300_000;

/** A Pod whose grace is over, an optional Node, and a server that answers the patch with that error. */
const setUp = (refusal?: KubeError, { nodeExists = false, podExists = true } = {}) => {
  const clock = manualClock();
  const missingNodes = createMissingNodeTracker(clock);
  missingNodes.record('mac-1', true);
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'vm',
      namespace: 'runners',
      uid: 'u',
      resourceVersion: '7',
      deletionTimestamp: new Date(clock.now()).toISOString(),
      finalizers: ['example.com/first', finalizers.vmCleanup, 'example.com/last'],
    },
    spec: { nodeName: 'mac-1' },
  };
  clock.advance(graceMs);
  const patches: unknown[] = [];
  const calls: string[] = [];
  const client = {
    get: async ({ kind }: Resource<never>) => {
      if (kind === 'Pod' ? podExists : nodeExists) return structuredClone(pod);
      throw new KubeError('notFound', 'not there');
    },
    patch: async (...[, , patch]: Parameters<Client['patch']>) => {
      patches.push(patch.body);
      if (refusal) throw refusal;
    },
  } as unknown as Pick<Client, 'get' | 'patch'>;
  const releaser = {
    observer: { missingNodes, clock, graceMs },
    client,
    events: { event: () => void calls.push('event') },
    count: () => void calls.push('count'),
    log: createLogger({ write: () => {}, clock, level: 'error' }),
  };
  const run = () => releasePod(releaser, { namespace: 'runners', name: 'vm' }, new AbortController().signal);
  return { run, patches, calls, missingNodes };
};

describe('releasePod', () => {
  it('patches the finalizers of the Pod, guarded by UID and resourceVersion, then emits an event', async () => {
    const { run, patches, calls } = setUp();
    assert.deepEqual(await run(), done);
    const others = ['example.com/first', 'example.com/last'];
    assert.deepEqual(patches, [{ metadata: { uid: 'u', resourceVersion: '7', finalizers: others } }]);
    assert.deepEqual(calls, ['count', 'event']);
  });

  const refusals: [string, KubeError, ReconcileResult][] = [
    ['a Pod that has changed is looked at again', new KubeError('conflict', 'changed'), requeueAfter(1000)],
    ['a Pod that is gone needs nothing more', new KubeError('notFound', 'gone'), done],
  ];
  for (const [sentence, refusal, outcome] of refusals)
    it(`${sentence}, and nothing is reported`, async () => {
      const { run, calls } = setUp(refusal);
      assert.deepEqual(await run(), outcome);
      assert.deepEqual(calls, []);
    });

  it('fails when the server refuses for any other reason', async () => {
    const { run, calls } = setUp(new KubeError('forbidden', 'no'));
    await assert.rejects(run(), /no/);
    assert.deepEqual(calls, []);
  });

  it('does nothing when the server has the Node, and resets the tracker', async () => {
    const { run, patches, missingNodes } = setUp(undefined, { nodeExists: true });
    assert.deepEqual(await run(), requeueAfter(graceMs));
    assert.deepEqual(patches, []);
    assert.equal(missingNodes.has('mac-1'), false);
  });

  it('does nothing when the server does not know the Pod', async () => {
    const { run, patches } = setUp(undefined, { podExists: false });
    assert.deepEqual(await run(), done);
    assert.deepEqual(patches, []);
  });
});

test('an event says what was done, why, and what becomes of the VM', () => {
  const { type, reason, message } = finalizerRemovedEvent('nodeGone', 'mac-1', 300_000);
  assert.equal(type, 'Warning');
  assert.equal(reason, 'FinalizerRemoved');
  assert.match(message, /^Removed the finalizer tart-kubelet\.tuist\.dev\/vm-cleanup: the Node mac-1 .* 300 s.* VM /);
});

test('an event of a Pod that never had a Node says that there is no VM', () => {
  assert.match(finalizerRemovedEvent('neverBound', undefined, 300_000).message, /never had a Node, so there is no VM/);
});
