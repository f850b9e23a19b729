import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MacHost } from '@tartan/api';
import type { Client, Live } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { ScalewayError } from '@tartan/scaleway';
import { coreClusters } from '../core/kinds.ts';
import { callGuarded } from './guard.ts';

const host = (more: { uid?: string; spec?: object } = {}) =>
  ({
    metadata: { name: 'server-1', uid: more.uid ?? 'u', resourceVersion: '1', creationTimestamp: '' },
    spec: { zone: 'fr-par-1', poolPrefix: 'p-', ...more.spec },
  }) as Live<MacHost>;

const setUp = (there: Live<MacHost> = host(), { readMs = 0, notAfterMs = Infinity } = {}) => {
  const clock = manualClock();
  const steps: string[] = [];
  const gate = {
    pass: () => {
      steps.push('gate');
      return { remainingMs: 10_000 };
    },
  };
  const client = {
    get: async () => {
      steps.push('read');
      clock.advance(readMs);
      return structuredClone(there);
    },
  } as unknown as Pick<Client, 'get' | 'list'>;
  const run = (call: (options: { signal: AbortSignal }) => Promise<unknown> = async () => void steps.push('call')) =>
    callGuarded(
      { gate, client, coreClusters: coreClusters('v1beta2'), clock },
      host(),
      new AbortController().signal,
      call,
      clock.now() + notAfterMs,
    );
  return { clock, steps, gate, run };
};

describe('callGuarded', () => {
  it('calls after the leader gate and a live read of the MacHost', async () => {
    const { run, steps } = setUp();
    assert.equal(await run(), 'called');
    assert.deepEqual(steps, ['gate', 'read', 'gate', 'call']);
  });

  it('does not call when this process does not lead', async () => {
    const { run, steps, gate } = setUp();
    gate.pass = () => {
      throw new Error('closed');
    };
    await assert.rejects(run(), /closed/);
    assert.deepEqual(steps, []);
  });

  it('does not call when leadership was lost while the MacHost was read, as after a freeze', async () => {
    const { run, steps, gate } = setUp();
    const { pass } = gate;
    gate.pass = () => {
      if (steps.includes('read')) throw new Error('closed');
      return pass();
    };
    await assert.rejects(run(), /closed/);
    assert.deepEqual(steps, ['gate', 'read']);
  });

  for (const [sentence, there] of [
    ['is another object', host({ uid: 'other' })],
    ['says something else', host({ spec: { poolPrefix: 'q-' } })],
  ] as const)
    it(`does not call for a MacHost that ${sentence}`, async () => {
      const { run, steps } = setUp(there);
      assert.equal(await run(), 'changed');
      assert.deepEqual(steps, ['gate', 'read']);
    });

  for (const [sentence, times, expected] of [
    ['before', { notAfterMs: 0 }, ['gate']],
    ['while the MacHost is read', { notAfterMs: 100, readMs: 100 }, ['gate', 'read', 'gate']],
  ] as const)
    it(`does not call when the observation is too old ${sentence}: another cluster may have claimed the server`, async () => {
      const { run, steps } = setUp(host(), times);
      assert.equal(await run(), 'changed');
      assert.deepEqual(steps, expected);
    });

  it('cancels a call that outlives the read it was decided on', async () => {
    const { run, clock } = setUp(host(), { notAfterMs: 500 });
    const begun = Promise.withResolvers<void>();
    const running = run(({ signal }) => {
      begun.resolve();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    await begun.promise;
    clock.advance(500);
    await assert.rejects(running, ScalewayError);
  });

  it('limits the call to the remaining lease, and reports the outcome as unknown after that', async () => {
    const { run, clock } = setUp();
    const begun = Promise.withResolvers<void>();
    const running = run(({ signal }) => {
      begun.resolve();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    });
    await begun.promise;
    clock.advance(9999);
    await assert.rejects(running, (error) => error instanceof ScalewayError && error.kind === 'no answer');
  });

  it('leaves no timer behind', async () => {
    const { run, clock } = setUp();
    let aborted = false;
    await run(async ({ signal }) => signal.addEventListener('abort', () => (aborted = true)));
    clock.advance(60_000);
    assert.equal(aborted, false);
  });
});
