import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createRecordingLogger } from '../identity/testing/recording-logger.ts';
import { flushEventLoop } from '../identity/testing/flush-event-loop.ts';
import { createHolds } from '../images/holds.ts';
import { createImageRecords } from '../images/image-records.ts';
import { formatDigestReference, goldenName } from '../images/image-reference.ts';
import { createLocalImages } from '../images/local-images.ts';
import type { VmRecord } from '../journal/journal.ts';
import { createHousekeeping, type HousekeepingOptions, pruneImageRecords } from './housekeeping.ts';
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

/** Folders and logs of five Pods: each is kept for a different reason, except the last. */
const createHarness = (more: Partial<HousekeepingOptions> = {}) => {
  const uids = ['bound', 'recorded', 'torn', 'running', 'gone'];
  const guests = new Set(uids.map((uid) => `ns-a-${uid}`));
  const logs = new Set(uids);
  const clock = manualClock();
  const { log, lines } = createRecordingLogger();
  const asked = { pods: 0 };
  const bound: BoundPod[] = [{ uid: 'bound', vm: 'ns-a-bound', images: [] }];
  const leftovers = createHousekeeping({
    guests: { list: async () => [...guests], remove: async (vm) => void guests.delete(vm) },
    logs: { podUIDs: async () => [...logs] },
    runs: { removeLogs: async (uid) => void logs.delete(uid) },
    journal: {
      list: async () => ({
        uids: ['recorded', 'torn'],
        records: [record('recorded')],
        problems: ['torn'],
      }),
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

describe('orphaned files', () => {
  test('are deleted; files of a Pod, a record, an unreadable record or a running VM stay (INC-404)', async () => {
    const { leftovers, guests, logs } = createHarness();
    await leftovers.sweep(signal);
    assert.deepEqual([...guests], ['ns-a-bound', 'ns-a-recorded', 'ns-a-torn', 'ns-a-running']);
    assert.deepEqual([...logs], ['bound', 'recorded', 'torn', 'running']);
  });

  const fails = (): Promise<never> => Promise.reject(new Error('no answer'));
  const cases: readonly (readonly [string, Partial<HousekeepingOptions>])[] = [
    ['the Pods', { pods: fails }],
    ['the journal', { journal: { list: fails } }],
    ['the processes', { processes: { list: fails, find: async () => undefined } }],
  ];
  for (const [what, broken] of cases)
    test(`stay while ${what} cannot be read`, async () => {
      const { leftovers, guests, logs } = createHarness(broken);
      await assert.rejects(leftovers.sweep(signal), /no answer/);
      assert.deepEqual([guests.size, logs.size], [5, 5]);
    });

  test('Pods are not listed while there is no orphan candidate', async () => {
    const { leftovers, guests, logs, asked } = createHarness();
    for (const uid of ['bound', 'running', 'gone']) {
      guests.delete(`ns-a-${uid}`);
      logs.delete(uid);
    }
    await leftovers.sweep(signal);
    assert.equal(asked.pods, 0);
  });

  test('are swept at once and every ten minutes, also after failures', async () => {
    let failing = true;
    const pods = async (): Promise<readonly BoundPod[]> => (failing ? fails() : []);
    const { leftovers, guests, clock, lines } = createHarness({ pods });
    const end = new AbortController();
    const running = leftovers.run(end.signal);
    await flushEventLoop();
    assert.ok(lines.some((line) => line.includes('were not removed')));
    failing = false;
    clock.advance(10 * 60_000 - 1);
    await flushEventLoop();
    assert.ok(guests.has('ns-a-gone'));
    clock.advance(1);
    await flushEventLoop();
    assert.ok(!guests.has('ns-a-gone'));
    end.abort();
    await running;
  });
});

const image = (letter: string) => ({ repository: 'ghcr.io/a/b', digest: `sha256:${letter.repeat(64)}` });

describe('image records without an image', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-deleted-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const setUp = () => {
    const home = join(folder, 'home');
    return {
      records: createImageRecords({ folder: join(folder, 'records'), mark: async () => {} }),
      local: createLocalImages(home),
      holds: createHolds(),
      putImage: (digest: string) => mkdirSync(join(home, 'cache/OCIs/ghcr.io/a/b', digest), { recursive: true }),
      putBase: (name: string) => {
        mkdirSync(join(home, 'vms', name), { recursive: true });
        for (const file of ['config.json', 'disk.img', 'nvram.bin']) writeFileSync(join(home, 'vms', name, file), '');
      },
    };
  };

  test('are pruned, so that an image pulled later by a person is not owned; existing or held images keep their record', async () => {
    const { holds, local, putBase, putImage, records } = setUp();
    const [here, gone, held] = [image('a'), image('b'), image('c')];
    for (const one of [here, gone, held]) {
      await records.finishPull('ghcr.io/a/b:1', one);
      await records.beginClone(goldenName(one), one);
      await records.finishClone(goldenName(one));
    }
    putImage(here.digest);
    putBase(goldenName(here));
    await holds.hold(formatDigestReference(held));
    await holds.hold(goldenName(held));
    const forgotten = await pruneImageRecords({ records, local, holds });
    assert.deepEqual([...forgotten].toSorted(), [goldenName(gone), formatDigestReference(gone)].toSorted());
    assert.equal(await records.isOwned(formatDigestReference(gone)), false);
    for (const one of [here, held])
      assert.deepEqual(
        [await records.isOwned(formatDigestReference(one)), await records.isOwned(goldenName(one))],
        [true, true],
      );
    assert.deepEqual(await pruneImageRecords({ records, local, holds }), []);
  });

  test('are kept while the image is being pulled or cloned', async () => {
    const { holds, local, records } = setUp();
    await records.beginClone('base', image('a'));
    await records.beginPull('ghcr.io/a/b:1', undefined);
    writeFileSync(join(folder, 'records', 'torn.json'), '{');
    assert.deepEqual(await pruneImageRecords({ records, local, holds }), []);
    assert.equal(await records.isCloneUnfinished('base'), true);
  });
});
