import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Client } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { type FakeTart, installFakeTart, noSpaceTexts } from '@tartan/sim-mac';
import { createTart, type Tart } from '@tartan/tart';
import { allClosed } from '../gc/testing/harness.ts';
import { ownProcesses } from '../gc/testing/own-processes.ts';
import { createRecordingLogger } from '../identity/testing/recording-logger.ts';
import { createJournal, type Journal } from '../journal/journal.ts';
import { readOwnershipMarker, writeOwnershipMarker } from '../journal/vm-identity.ts';
import { createImageManager, type ImageManager, type ImageManagerOptions } from './image-manager.ts';
import { formatDigestReference, goldenName } from './image-reference.ts';

const repository = 'registry.local:5000/team/runner';
const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const image = (letter: string) => ({ repository, digest: digest(letter) });
const golden = (letter: string): string => goldenName(image(letter));
const { signal } = new AbortController();
const day = 24 * 60 * 60_000;

describe('the image manager', () => {
  let folder: string;
  let fake: FakeTart;
  let tart: Tart;
  let journal: Journal;
  let pods: readonly object[];
  let collected: string[];
  const clock = manualClock();
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'tartan-images-')));
    fake = installFakeTart(folder);
    for (const letter of ['a', 'b'])
      fake.controls.image(`${repository}:${letter}`, { digest: digest(letter), percents: [100] });
    tart = createTart({ path: fake.path, environment: environment() });
    journal = createJournal(join(folder, 'journal'));
    pods = [];
    collected = [];
  });
  afterEach(() => {
    fake.powerOff();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const environment = () => ({ PATH: process.env['PATH'], HOME: folder, TART_HOME: fake.home });
  /** A new agent process each time. */
  const images = (more: Partial<ImageManagerOptions> = {}): ImageManager => {
    const client = { list: async () => ({ items: pods, resourceVersion: '1' }) } as unknown as Client;
    return createImageManager({
      tart,
      tartHome: fake.home,
      folder: join(folder, 'records'),
      processes: ownProcesses(folder, environment()),
      tartPaths: [fake.path],
      client,
      nodeName: 'mac-1',
      journal,
      disk: async () => ({ freeBytes: 50, totalBytes: 100 }),
      openFiles: allClosed,
      disableVMGC: false,
      clock,
      log: createRecordingLogger().log,
      onCollected: (why) => collected.push(why),
      ...more,
    });
  };
  const ensure = async (letter: string, from: ImageManager = images()) => {
    const base = await from.ensureGolden({ image: `${repository}:${letter}`, signal });
    base.release();
    return base;
  };
  const names = async () => (await tart.list()).map(({ name }) => name);
  const addClone = async (name: string, marked: boolean, uid = 'u1'): Promise<void> => {
    fake.addVm(name);
    if (marked)
      await writeOwnershipMarker(join(fake.home, 'vms', name), { version: 1, agent: 'mac-1', podUID: uid, vm: name });
  };
  const write = (vm: string, uid = 'u1') =>
    journal.write({
      version: 1,
      vm,
      pod: { uid, namespace: 'ns', name: 'a' },
      image: { reference: `${repository}:a` },
      createdAt: 0,
      run: 0,
      state: { kind: 'configured' },
    });

  test('a golden base has a marker with its image, and is deleted with it a day after its last use', async () => {
    await ensure('a');
    const marker = await readOwnershipMarker(join(fake.home, 'vms', golden('a')), golden('a'));
    assert.deepEqual(marker, {
      version: 1,
      agent: 'mac-1',
      vm: golden('a'),
      goldenOf: formatDigestReference(image('a')),
    });
    const later = images();
    await ensure('b', later);
    await later.collector?.collect();
    clock.advance(day - 1);
    for (const letter of ['a', 'b']) later.collector?.markUsed(golden(letter));
    clock.advance(1);
    await later.collector?.collect();
    assert.equal((await names()).filter((name) => name.startsWith('tuist-golden-')).length, 2);
    clock.advance(day - 2);
    later.collector?.markUsed(golden('a'));
    clock.advance(1);
    await later.collector?.collect();
    assert.deepEqual(await names(), [golden('a'), `${repository}:a`, formatDigestReference(image('a'))]);
    assert.equal(await later.records.isOwned(golden('b')), false);
  });

  test('a base that somebody else made under such a name is never collected (B5)', async () => {
    fake.addVm(golden('a'));
    await ensure('b');
    const { collector } = images();
    await collector?.collect();
    clock.advance(2 * day);
    await collector?.collect();
    assert.ok((await names()).includes(golden('a')));
  });

  test('a base with the marker of another agent is not owned', async () => {
    await ensure('a');
    await ensure('b');
    const vm = golden('a');
    await writeOwnershipMarker(join(fake.home, 'vms', vm), {
      version: 1,
      agent: 'mac-1',
      vm,
      goldenOf: formatDigestReference(image('b')),
    });
    const { collector } = images();
    await collector?.collect();
    clock.advance(2 * day);
    collector?.markUsed(golden('b'));
    await collector?.collect();
    assert.ok((await names()).includes(vm));
  });

  test('a clone is deleted when journal and marker say that it is ours and its Pod is gone (B1, B5)', async () => {
    await addClone('ns-a-u1', true);
    await write('ns-a-u1');
    await addClone('not-marked', false);
    await write('not-marked', 'u2');
    await addClone('not-in-journal', true);
    await addClone('bake', false);
    await images().collector?.collect();
    assert.deepEqual(await names(), ['bake', 'not-in-journal', 'not-marked']);
    assert.deepEqual(collected, ['orphan clone']);
  });

  test('a clone of an existing Pod is kept', async () => {
    await addClone('ns-a-u1', true);
    await write('ns-a-u1');
    pods = [{ metadata: { uid: 'u1', name: 'a', namespace: 'ns' }, spec: { containers: [] } }];
    await images().collector?.collect();
    assert.deepEqual(await names(), ['ns-a-u1']);
  });

  test('a pull that finds the disk full collects garbage and retries once (B2)', async () => {
    await ensure('a');
    await addClone('ns-a-u1', true);
    await write('ns-a-u1');
    fake.controls.command('pull', { answer: { code: 1, stderr: noSpaceTexts[0], times: 1 } });
    assert.equal((await ensure('b')).from, 'pulled');
    assert.deepEqual(collected, ['orphan clone']);
  });

  test('with --disable-vm-gc there is no collector, and a full disk collects nothing (B3)', async () => {
    await addClone('ns-a-u1', true);
    await write('ns-a-u1');
    const disabled = images({ disableVMGC: true });
    assert.equal(disabled.collector, undefined);
    fake.controls.command('pull', { answer: { code: 1, stderr: noSpaceTexts[0], times: 1 } });
    await assert.rejects(ensure('b', disabled), /space/);
    assert.deepEqual(await names(), ['ns-a-u1']);
  });
});
