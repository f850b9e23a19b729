import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finalizers } from '@tartan/api';
import { again, type Client, createLogger, KubeError, type Outcome, type Resource, settled } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createAbsences } from './absences.ts';
import { release } from './act.ts';

const graceMs = 300_000;

/** A Pod that has waited long enough, a Node as told, and a server that answers the patch with that error. */
const setUp = (refusal?: KubeError, { nodeExists = false, podExists = true } = {}) => {
  const clock = manualClock();
  const absences = createAbsences(clock);
  absences.missingForMs('mac-1');
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
  const told: string[] = [];
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
    observer: { absences, clock, graceMs },
    client,
    events: { event: () => void told.push('event') },
    count: () => void told.push('count'),
    log: createLogger({ write: () => {}, clock, level: 'error' }),
  };
  const run = () => release(releaser, { namespace: 'runners', name: 'vm' }, new AbortController().signal);
  return { run, patches, told, absences };
};

describe('letting a Pod go', () => {
  it('patches the finalizers of the very Pod that was judged, and then tells of it', async () => {
    const { run, patches, told } = setUp();
    assert.deepEqual(await run(), settled);
    const others = ['example.com/first', 'example.com/last'];
    assert.deepEqual(patches, [{ metadata: { uid: 'u', resourceVersion: '7', finalizers: others } }]);
    assert.deepEqual(told, ['count', 'event']);
  });

  const refusals: [string, KubeError, Outcome][] = [
    ['a Pod that has changed is looked at again', new KubeError('conflict', 'changed'), again(1000)],
    ['a Pod that is gone needs nothing more', new KubeError('notFound', 'gone'), settled],
  ];
  for (const [sentence, refusal, outcome] of refusals)
    it(`${sentence}, and nothing is told`, async () => {
      const { run, told } = setUp(refusal);
      assert.deepEqual(await run(), outcome);
      assert.deepEqual(told, []);
    });

  it('fails when the server refuses for any other reason', async () => {
    const { run, told } = setUp(new KubeError('forbidden', 'no'));
    await assert.rejects(run(), /no/);
    assert.deepEqual(told, []);
  });

  it('does nothing when the server knows the Node, whose absence then counts from zero', async () => {
    const { run, patches, absences } = setUp(undefined, { nodeExists: true });
    assert.deepEqual(await run(), again(graceMs));
    assert.deepEqual(patches, []);
    assert.equal(absences.has('mac-1'), false);
  });

  it('does nothing when the server does not know the Pod', async () => {
    const { run, patches } = setUp(undefined, { podExists: false });
    assert.deepEqual(await run(), settled);
    assert.deepEqual(patches, []);
  });
});
