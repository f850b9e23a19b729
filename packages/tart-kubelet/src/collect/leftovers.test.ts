import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { recordedLog } from '../identity/testing/recorded-log.ts';
import { settle } from '../identity/testing/until.ts';
import type { VmRecord } from '../journal/record.ts';
import { createLeftovers, type LeftoversOptions } from './leftovers.ts';
import type { BoundPod } from './pods-on-node.ts';

const { signal } = new AbortController();
const record = (uid: string): VmRecord => ({
  version: 1,
  vm: `ns-a-${uid}`,
  pod: { uid, namespace: 'ns', name: 'a' },
  image: { reference: 'ghcr.io/a/b:1' },
  createdAt: 0,
  run: 0,
  state: { kind: 'configured' },
});

/** Folders and logs of five Pods: each is there for another reason, but the last. */
const createStage = (more: Partial<LeftoversOptions> = {}) => {
  const uids = ['bound', 'recorded', 'torn', 'running', 'gone'];
  const guests = new Set(uids.map((uid) => `ns-a-${uid}`));
  const logs = new Set(uids);
  const clock = manualClock();
  const { log, lines } = recordedLog();
  const asked = { pods: 0 };
  const bound: BoundPod[] = [{ uid: 'bound', vm: 'ns-a-bound', images: [] }];
  const leftovers = createLeftovers({
    guests: { list: async () => [...guests], remove: async (vm) => void guests.delete(vm) },
    logs: { podUIDs: async () => [...logs] },
    runs: { remove: async (uid) => void logs.delete(uid) },
    journal: {
      list: async () => [
        { kind: 'record', record: record('recorded') },
        { kind: 'unreadable', uid: 'torn', why: 'torn' },
      ],
    },
    images: {
      records: { names: async () => [], forget: async () => {} },
      local: { has: async () => true, hasVm: async () => true },
      holds: { names: () => new Set() },
    },
    pods: async () => {
      asked.pods += 1;
      return bound;
    },
    processes: {
      list: async () => [{ pid: 1, startedAt: 0, command: 'tart run ns-a-running --no-graphics' }],
      find: async () => undefined,
    },
    tartPaths: [],
    clock,
    log,
    ...more,
  });
  return { leftovers, guests, logs, asked, clock, lines };
};

describe('files that belong to no Pod', () => {
  test('go; what a Pod, a record, one that cannot be read or a running virtual machine may need stays (G4)', async () => {
    const { leftovers, guests, logs } = createStage();
    await leftovers.sweep(signal);
    assert.deepEqual([...guests], ['ns-a-bound', 'ns-a-recorded', 'ns-a-torn', 'ns-a-running']);
    assert.deepEqual([...logs], ['bound', 'recorded', 'torn', 'running']);
  });

  const fails = (): Promise<never> => Promise.reject(new Error('no answer'));
  const cases: readonly (readonly [string, Partial<LeftoversOptions>])[] = [
    ['the Pods', { pods: fails }],
    ['the journal', { journal: { list: fails } }],
    ['the processes', { processes: { list: fails, find: async () => undefined } }],
  ];
  for (const [what, broken] of cases)
    test(`stay as long as nobody knows ${what}`, async () => {
      const { leftovers, guests, logs } = createStage(broken);
      await assert.rejects(leftovers.sweep(signal), /no answer/);
      assert.deepEqual([guests.size, logs.size], [5, 5]);
    });

  test('nobody is asked for Pods while there is nothing that could be one', async () => {
    const { leftovers, guests, logs, asked } = createStage();
    for (const uid of ['bound', 'running', 'gone']) {
      guests.delete(`ns-a-${uid}`);
      logs.delete(uid);
    }
    await leftovers.sweep(signal);
    assert.equal(asked.pods, 0);
  });

  test('are looked for at once and every ten minutes, whatever happens', async () => {
    let failing = true;
    const pods = async (): Promise<readonly BoundPod[]> => (failing ? fails() : []);
    const { leftovers, guests, clock, lines } = createStage({ pods });
    const end = new AbortController();
    const running = leftovers.run(end.signal);
    await settle();
    assert.ok(lines.some((line) => line.includes('were not removed')));
    failing = false;
    clock.advance(10 * 60_000 - 1);
    await settle();
    assert.ok(guests.has('ns-a-gone'));
    clock.advance(1);
    await settle();
    assert.ok(!guests.has('ns-a-gone'));
    end.abort();
    await running;
  });
});
