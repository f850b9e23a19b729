import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { type FakeTart, installFakeTart } from '@tartan/sim-mac';
import { createProcessTable, createTart, type ProcessTable, type Tart } from '@tartan/tart';
import { settle, until } from '../identity/testing/until.ts';
import { goldenName } from '../images/golden-name.ts';
import { writeMarker } from '../journal/marker.ts';
import { createTartFacts, type TartFactsOptions } from './create-tart-facts.ts';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const repository = 'registry.local:5000/team/runner';
const pinned = (letter: string): string => `${repository}@${digest(letter)}`;
const golden = (letter: string): string => goldenName({ repository, digest: digest(letter) });
const { signal } = new AbortController();
const minute = 60_000;
const df = (percent: string): string =>
  `echo 'Filesystem 1024-blocks Used Available Capacity'; echo '/dev/disk3 9 8 1 ${percent} 1 2 0% /'`;

describe('what a Mac has of virtual machines and images', () => {
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
    fake.unplug();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  /** Of this Mac: other tests have virtual machines as well. */
  const ownProcesses = (): ProcessTable => {
    const all = createProcessTable(environment);
    return { ...all, list: async () => (await all.list()).filter(({ command }) => command.includes(folder)) };
  };
  const facts = (more: Partial<TartFactsOptions> = {}) =>
    createTartFacts({
      tart,
      tartHome: fake.home,
      processes: ownProcesses(),
      tartPaths: [fake.path],
      vmSlots: 2,
      clock,
      ...more,
    });
  const vmFolder = (name: string): string => join(fake.home, 'vms', name);
  const addBase = async (letter: string): Promise<void> => {
    fake.addVm(golden(letter));
    await writeMarker(vmFolder(golden(letter)), {
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
  /** On, with a guest agent that answers. */
  const start = async (name: string, podUID?: string): Promise<void> => {
    fake.addVm(name);
    if (podUID !== undefined) await writeMarker(vmFolder(name), { version: 1, agent: 'mac-1', vm: name, podUID });
    await tart.run(name, { logFile: join(folder, `${name}.log`) });
    await until('its agent is there', async () => (await tart.exec(name, ['true']).ended).kind === 'exited');
  };
  const names = async () => (await facts().images(signal)).map((image) => image.names);

  test('the version of tart', async () => {
    assert.equal(await facts().runtime(signal), '2.32.1');
  });

  test('a slot is taken by every virtual machine that is on, whoever started it (INC-41)', async () => {
    assert.deepEqual(await facts().slots(signal), { taken: 0, total: 2 });
    await start('of-somebody');
    await start('ns-pod-u1', 'u1');
    assert.deepEqual(await facts().slots(signal), { taken: 2, total: 2 });
  });

  test('an image by its digest and its tags; the base of it is the same image, also when it is all that is left', async () => {
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

  test('a base that says it is of another image than its name, or says nothing, has only its name', async () => {
    fake.addVm(golden('a'));
    fake.addVm(golden('b'));
    const marker = { version: 1, agent: 'mac-1', vm: golden('a'), goldenOf: pinned('c') } as const;
    await writeMarker(vmFolder(golden('a')), marker);
    assert.deepEqual((await names()).flat().sort(), [golden('a'), golden('b')].sort());
  });

  test('what is not whole, or cannot be read, is left out and hides nothing else (INC-43)', async () => {
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

  test('a label for each base, and for nothing else', async () => {
    await addBase('a');
    fake.addVm('tuist-golden-NOT-A-HASH');
    fake.addVm('ns-pod-u1');
    assert.deepEqual(await facts().labels(signal), { [`tuist.dev/golden-${golden('a').slice(-16)}`]: 'true' });
  });

  test('a folder that cannot be read is no folder without bases (INC-43)', async () => {
    rmSync(join(fake.home, 'vms'), { recursive: true });
    writeFileSync(join(fake.home, 'vms'), 'no folder');
    await assert.rejects(facts().labels(signal));
    await assert.rejects(facts().images(signal));
    assert.equal((await facts().slots(signal)).total, 2);
  });

  test('nothing of this calls tart while it looks: the part of a cut pull stays (G22)', async () => {
    await addBase('a');
    mkdirSync(join(fake.home, 'tmp', 'part'));
    const before = fake.journal.calls().length;
    await facts().images(signal);
    await facts().labels(signal);
    await facts().slots(signal);
    await facts().guestDisks(signal);
    assert.equal(fake.journal.calls().length, before);
  });

  test('the disks of running virtual machines of ours, and of no others', async () => {
    fake.controls.guest('ns-pod-u1', { exec: df('93%') });
    await start('ns-pod-u1', 'u1');
    await start('of-somebody');
    const found: unknown[] = [];
    const disks = await facts({ onLook: (look) => found.push(look) }).guestDisks(signal);
    assert.deepEqual(disks, [{ vm: 'ns-pod-u1', usedPercent: 93 }]);
    assert.deepEqual(found, [{ guestDisks: disks }]);
  });

  test('nothing is executed in a base that somebody runs by hand (INC-50)', async () => {
    await addBase('a');
    await tart.run(golden('a'), { logFile: join(folder, 'base.log') });
    assert.equal((await facts().slots(signal)).taken, 1);
    await facts().guestDisks(signal);
    assert.equal(fake.journal.calls('exec').length, 0);
  });

  test('a guest is asked every three minutes; of one that answers no more, or with nonsense, the last answer counts', async () => {
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
    fake.unplug();
    await until('it is gone from the list with its process', async () => {
      clock.advance(minute);
      return (await used()) === undefined;
    });
    // A restart under the same name is another guest.
    fake.controls.guest(name, { exec: 'exit 1' });
    await start(name, 'u1');
    clock.advance(minute);
    assert.equal(await used(), undefined);
  });

  test('a guest that never answers is given up', async () => {
    const ticking = manualClock();
    const name = 'ns-pod-u1';
    await start(name, 'u1');
    fake.controls.guest(name, { exec: 'sleep 600' });
    const slow = createTart({ path: fake.path, environment, clock: ticking });
    const looking = facts({ tart: slow, clock: ticking }).guestDisks(signal);
    const before = fake.journal.calls('exec').length;
    await until('it is asked', () => fake.journal.calls('exec').length > before);
    ticking.advance(15_000);
    await settle();
    assert.deepEqual(await looking, []);
  });

  test('one look at the processes serves all who ask at once, and a failure is not kept', async () => {
    let looks = 0;
    const list = async () => {
      looks += 1;
      if (looks === 1) throw new Error('no ps');
      return [{ pid: 1, startedAt: 0, command: `${fake.path} run ns-pod-u1` }];
    };
    const known = facts({ processes: { list, find: async () => undefined } });
    await assert.rejects(known.slots(signal), /no ps/);
    assert.equal((await known.slots(signal)).taken, 1);
    await known.guestDisks(signal);
    assert.equal(looks, 2);
    clock.advance(5_000);
    await known.slots(signal);
    assert.equal(looks, 3);
  });
});
