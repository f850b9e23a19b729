import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { type FakeTart, installFakeTart } from '@tartan/sim-mac';
import { createTart, type Tart } from '@tartan/tart';
import { ownProcesses } from '../gc/testing/own-processes.ts';
import { flushEventLoop } from '../identity/testing/flush-event-loop.ts';
import { goldenName } from '../images/image-reference.ts';
import { writeOwnershipMarker } from '../journal/vm-identity.ts';
import { createTartFacts, type TartFactsOptions } from './tart-facts.ts';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const repository = 'registry.local:5000/team/runner';
const pinned = (letter: string): string => `${repository}@${digest(letter)}`;
const golden = (letter: string): string => goldenName({ repository, digest: digest(letter) });
const { signal } = new AbortController();
const minute = 60_000;
const df = (percent: string): string =>
  `echo 'Filesystem 1024-blocks Used Available Capacity'; echo '/dev/disk3 9 8 1 ${percent} 1 2 0% /'`;

describe('facts about virtual machines and images', () => {
  let folder: string;
  let fake: FakeTart;
  let tart: Tart;
  let environment: Record<string, string | undefined>;
  const clock = manualClock();
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'tartan-facts-')));
    fake = installFakeTart(folder);
    environment = { PATH: process.env['PATH'], HOME: folder, TART_HOME: fake.home };
    tart = createTart({ path: fake.path, environment });
  });
  afterEach(() => {
    fake.powerOff();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const facts = (more: Partial<TartFactsOptions> = {}) =>
    createTartFacts({
      tart,
      tartHome: fake.home,
      processes: ownProcesses(folder, environment),
      tartPaths: [fake.path],
      vmSlots: 2,
      clock,
      ...more,
    });
  const vmFolder = (name: string): string => join(fake.home, 'vms', name);
  const addBase = async (letter: string): Promise<void> => {
    fake.addVm(golden(letter));
    await writeOwnershipMarker(vmFolder(golden(letter)), {
      version: 1,
      agent: 'mac-1',
      vm: golden(letter),
      goldenOf: pinned(letter),
    });
  };
  const addImage = async (letter: string, tag: string): Promise<void> => {
    fake.controls.image(`${repository}:${tag}`, { digest: digest(letter), percents: [100] });
    await tart.pull(`${repository}:${tag}`);
  };
  /** A running VM whose guest agent responds. */
  const start = async (name: string, podUID?: string): Promise<void> => {
    fake.addVm(name);
    if (podUID !== undefined)
      await writeOwnershipMarker(vmFolder(name), { version: 1, agent: 'mac-1', vm: name, podUID });
    await tart.run(name, { logFile: join(folder, `${name}.log`) });
    await eventually('its agent is there', async () => (await tart.exec(name, ['true']).result).kind === 'exited');
  };
  const names = async () => (await facts().images(signal)).map((image) => image.names);

  test('the version of tart', async () => {
    assert.equal(await facts().tartVersion(signal), '2.32.1');
  });

  test('every running VM takes a slot, whoever started it (INC-41)', async () => {
    assert.deepEqual(await facts().slots(signal), { taken: 0, total: 2 });
    await start('of-somebody');
    await start('ns-pod-u1', 'u1');
    assert.deepEqual(await facts().slots(signal), { taken: 2, total: 2 });
  });

  test('slots and guest disks that are read together list the processes once, and later readings list them anew', async () => {
    const own = ownProcesses(folder, environment);
    let lists = 0;
    const processes = {
      ...own,
      list: () => {
        lists += 1;
        return own.list();
      },
    };
    const known = facts({ processes });
    await Promise.all([known.slots(signal), known.guestDisks(signal)]);
    assert.equal(lists, 1);
    await start('of-somebody');
    assert.equal((await known.slots(signal)).taken, 1);
  });

  test('an image has its digest and tags; its golden base counts as the same image, even without the image', async () => {
    assert.deepEqual(await names(), []);
    await addImage('a', 'main');
    await addImage('a', 'v1');
    assert.deepEqual(await names(), [[`${repository}:main`, `${repository}:v1`, pinned('a')]]);
    await addBase('a');
    const both = await facts().images(signal);
    assert.deepEqual(
      both.map((image) => image.names),
      [[`${repository}:main`, `${repository}:v1`, pinned('a'), golden('a')]],
    );
    assert.ok((both[0]?.sizeBytes ?? 0) > 0);
    for (const name of [`${repository}:main`, `${repository}:v1`, pinned('a')]) await tart.delete(name);
    assert.deepEqual(await names(), [[pinned('a'), golden('a')]]);
  });

  test('a base whose marker does not match its name, or that has none, is listed by its name only', async () => {
    fake.addVm(golden('a'));
    fake.addVm(golden('b'));
    const marker = { version: 1, agent: 'mac-1', vm: golden('a'), goldenOf: pinned('c') } as const;
    await writeOwnershipMarker(vmFolder(golden('a')), marker);
    assert.deepEqual((await names()).flat().sort(), [golden('a'), golden('b')].sort());
  });

  test('incomplete or unreadable images are left out and hide no others (INC-43)', async () => {
    await addImage('a', 'main');
    await addBase('b');
    rmSync(join(vmFolder(golden('b')), 'nvram.bin'));
    const images = join(fake.home, 'cache', 'OCIs');
    mkdirSync(join(images, 'ghcr.io', 'x', digest('c')), { recursive: true });
    mkdirSync(join(images, 'bad host', 'y', digest('d')), { recursive: true });
    for (const part of ['config.json', 'disk.img', 'nvram.bin'])
      writeFileSync(join(images, 'bad host', 'y', digest('d'), part), '');
    writeFileSync(join(images, 'a-file'), '');
    assert.deepEqual(await names(), [[`${repository}:main`, pinned('a')]]);
    assert.deepEqual(await facts().labels(signal), {});
  });

  test('one label for each golden base, and no others', async () => {
    await addBase('a');
    fake.addVm('tuist-golden-NOT-A-HASH');
    fake.addVm('ns-pod-u1');
    assert.deepEqual(await facts().labels(signal), { [`tuist.dev/golden-${golden('a').slice(-16)}`]: 'true' });
  });

  test('an unreadable folder is an error, not an empty list (INC-43)', async () => {
    rmSync(join(fake.home, 'vms'), { recursive: true });
    writeFileSync(join(fake.home, 'vms'), 'no folder');
    await assert.rejects(facts().labels(signal));
    await assert.rejects(facts().images(signal));
    assert.equal((await facts().slots(signal)).total, 2);
  });

  test('reading facts never runs tart, so a partial pull is kept (INC-422)', async () => {
    await addBase('a');
    mkdirSync(join(fake.home, 'tmp', 'part'));
    const before = fake.journal.calls().length;
    await facts().images(signal);
    await facts().labels(signal);
    await facts().slots(signal);
    await facts().guestDisks(signal);
    assert.equal(fake.journal.calls().length, before);
  });

  test('reads the disks of VMs of our Pods only', async () => {
    fake.controls.guest('ns-pod-u1', { exec: df('93%') });
    await start('ns-pod-u1', 'u1');
    await start('of-somebody');
    const found: unknown[] = [];
    const disks = await facts({ onObserved: (observation) => found.push(observation) }).guestDisks(signal);
    assert.deepEqual(disks, [{ vm: 'ns-pod-u1', usedPercent: 93 }]);
    assert.deepEqual(found, [{ guestDisks: disks }]);
  });

  test('runs nothing in a golden base that somebody started by hand (INC-50)', async () => {
    await addBase('a');
    await tart.run(golden('a'), { logFile: join(folder, 'base.log') });
    assert.equal((await facts().slots(signal)).taken, 1);
    await facts().guestDisks(signal);
    assert.equal(fake.journal.calls('exec').length, 0);
  });

  test('runs df in a guest every three minutes, and keeps the last result when df fails or is malformed', async () => {
    const name = 'ns-pod-u1';
    fake.controls.guest(name, { exec: df('50%') });
    await start(name, 'u1');
    const known = facts();
    const used = async () => (await known.guestDisks(signal))[0]?.usedPercent;
    assert.equal(await used(), 50);
    fake.controls.guest(name, { exec: df('95%') });
    clock.advance(3 * minute - 1);
    assert.equal(await used(), 50);
    clock.advance(1);
    assert.equal(await used(), 95);
    for (const exec of ['yes', `${df('10%')}; exit 1`, df('999%')]) {
      fake.controls.guest(name, { exec });
      clock.advance(3 * minute);
      assert.equal(await used(), 95, exec);
    }
    fake.powerOff();
    await eventually('it is gone from the list with its process', async () => {
      clock.advance(minute);
      return (await used()) === undefined;
    });
    // A restart under the same name is another guest.
    fake.controls.guest(name, { exec: 'exit 1' });
    await start(name, 'u1');
    clock.advance(minute);
    assert.equal(await used(), undefined);
  });

  test('gives up on a guest that never answers', async () => {
    const ticking = manualClock();
    const name = 'ns-pod-u1';
    await start(name, 'u1');
    fake.controls.guest(name, { exec: 'sleep 600' });
    const slow = createTart({ path: fake.path, environment, clock: ticking });
    const looking = facts({ tart: slow, clock: ticking }).guestDisks(signal);
    const before = fake.journal.calls('exec').length;
    await eventually('it is asked', () => fake.journal.calls('exec').length > before);
    ticking.advance(15_000);
    await flushEventLoop();
    assert.deepEqual(await looking, []);
  });
});
