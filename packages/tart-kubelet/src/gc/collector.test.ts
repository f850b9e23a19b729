import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import type { Tart } from '@tartan/tart';
import { goldenName } from '../images/image-reference.ts';
import type { PodOnNode } from './observe.ts';
import type { OpenFiles } from './open-files.ts';
import { allClosed, createHarness, type Harness } from './testing/harness.ts';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const repository = 'registry.local:5000/team/runner';
const image = (letter: string): string => `${repository}@${digest(letter)}`;
const golden = (letter: string): string => goldenName({ repository, digest: digest(letter) });
const day = 24 * 60 * 60_000;

describe('the collector', () => {
  let harness: Harness;
  beforeEach(() => {
    harness = createHarness();
  });
  afterEach(() => harness.remove());
  const addOurs = (...names: readonly string[]): void => {
    for (const name of names) {
      if (!name.includes('/')) harness.fake.addVm(name);
      harness.ours.add(name);
    }
  };
  const addImage = async (letter: string, tag: string): Promise<void> => {
    harness.fake.controls.image(`${repository}:${tag}`, { digest: digest(letter), percents: [100] });
    await harness.tart.pull(`${repository}:${tag}`);
    harness.ours.add(image(letter));
  };

  test('deletes a clone whose Pod is deleted, and its record; other VMs stay (B1, B5)', async () => {
    addOurs('orphan', 'kept');
    harness.fake.addVm('bake');
    harness.state.pods = [{ vm: 'kept', images: [] }];
    await harness.collector().collect();
    assert.deepEqual(await harness.names(), ['bake', 'kept']);
    assert.ok(!harness.ours.has('orphan'));
    assert.deepEqual(harness.collected, ['orphan clone']);
  });

  test('collects at start, and then every five minutes', async () => {
    const collector = harness.collector();
    const end = new AbortController();
    const running = collector.run(end.signal);
    await collector.collect();
    addOurs('orphan');
    harness.clock.advance(5 * 60_000 - 1);
    assert.deepEqual(await harness.names(), ['orphan']);
    harness.clock.advance(1);
    await eventually('it has collected by itself', async () => (await harness.names()).length === 0);
    end.abort();
    await running;
  });

  test('deletes nothing when listing Pods or VMs fails', async () => {
    addOurs('orphan');
    harness.state.pods = new Error('no answer');
    await harness.collector().collect();
    harness.state.pods = [];
    harness.fake.controls.command('list', { answer: { code: 0, stdout: '{}', times: 1 } });
    await harness.collector().collect();
    assert.deepEqual(await harness.names(), ['orphan']);
    await harness.collector().collect();
    assert.deepEqual(await harness.names(), []);
  });

  test('keeps a VM that appears with its Pod between the two lists: Pods are listed last (B1)', async () => {
    const { tart } = harness;
    let bound: readonly PodOnNode[] = [];
    const appearAfter = <T>(listed: T): T => {
      if (bound.length === 0) addOurs('new');
      bound = [{ vm: 'new', images: [] }];
      return listed;
    };
    const list: Tart['list'] = async (options) => appearAfter(await tart.list(options));
    const pods = async (): Promise<readonly PodOnNode[]> => appearAfter(bound);
    await harness.collector({ tart: { ...tart, list }, pods }).collect();
    assert.deepEqual(await harness.names(), ['new']);
  });

  test('keeps a running VM that tart reports as stopped (INC-50)', async () => {
    addOurs('orphan');
    const vm = await harness.tart.run('orphan', { logFile: join(harness.folder, 'vm.log') });
    harness.fake.controls.host({ state: 'stale' });
    await harness.collector().collect();
    assert.equal(harness.fake.journal.calls('delete').length, 0);
    let isOff = false;
    const ends = vm.exited.then(() => (isOff = true));
    // Repeated, as a VM that has not started yet cannot be powered off.
    await eventually('it is off', async () => {
      harness.fake.powerOff();
      return isOff;
    });
    await ends;
    await harness.collector().collect();
    assert.deepEqual(await harness.names(), []);
  });

  test('skips a VM that came into use between the decision and the delete', async () => {
    addOurs('a', 'b');
    let checks = 0;
    // The first check is for the decision.
    const openFiles = {
      check: async (names: readonly string[]) => {
        checks += 1;
        return new Map(
          names.map((name) => [name, checks > 1 && name === 'a' ? ('open' as const) : ('closed' as const)]),
        );
      },
    };
    await harness.collector({ openFiles }).collect();
    assert.deepEqual(await harness.names(), ['a']);

    let lists = 0;
    const command = `${harness.fake.path} run a --no-graphics`;
    const processes = {
      list: async () => ((lists += 1) > 1 ? [{ pid: 1, startedAt: 0, command }] : []),
      find: async () => undefined,
    };
    await harness.collector({ processes }).collect();
    assert.deepEqual(await harness.names(), ['a']);

    const release = await harness.holds.hold('a');
    await harness.collector({ holds: { ...harness.holds, names: () => new Set() } }).collect();
    assert.deepEqual(await harness.names(), ['a']);
    release();
    await harness.collector().collect();
    assert.deepEqual(await harness.names(), []);
  });

  test('keeps a VM that is not known to be ours, also when only the check right before the delete says so (B5)', async () => {
    addOurs('a');
    for (const answers of [['unknown', 'ours'] as const, ['ours', 'unknown'] as const, ['ours', 'not ours'] as const]) {
      let asked = 0;
      const ownerOf = async () => answers[asked++] ?? assert.fail('it is asked twice');
      await harness.collector({ ownership: { ownerOf, forget: async () => {} } }).collect();
      assert.deepEqual(await harness.names(), ['a'], answers.join());
    }
    await harness.collector().collect();
    assert.deepEqual(await harness.names(), []);
  });

  test('keeps a VM that is not known to be stopped, also when only the check right before the delete says so (B6)', async () => {
    const { tart } = harness;
    addOurs('a');
    for (const state of ['running', 'suspended', 'unknown'] as const) {
      const list: Tart['list'] = async (options) => {
        const listed = await tart.list(options);
        return listed.map((entry) => ({ ...entry, state }));
      };
      const get: Tart['get'] = async (name, options) => {
        const details = await tart.get(name, options);
        return details && { ...details, state };
      };
      for (const change of [{ list }, { get }]) {
        await harness.collector({ tart: { ...tart, ...change } }).collect();
        assert.deepEqual(await harness.names(), ['a'], state);
      }
    }
    await harness.collector().collect();
    assert.deepEqual(await harness.names(), []);
  });

  test('keeps a VM whose open files are unknown, also when only right before the delete (B6)', async () => {
    addOurs('a');
    for (const unknown of [1, 2]) {
      let checks = 0;
      const openFiles: OpenFiles = {
        check: async (names, signal) => ((checks += 1) === unknown ? new Map() : allClosed.check(names, signal)),
      };
      await harness.collector({ openFiles }).collect();
      assert.deepEqual(await harness.names(), ['a']);
      assert.equal(checks, unknown);
    }
    await harness.collector().collect();
    assert.deepEqual(await harness.names(), []);
  });

  test('skips a VM when the process list fails right before the delete', async () => {
    addOurs('a');
    let lists = 0;
    const list = async () => {
      lists += 1;
      if (lists > 1) throw new Error('no ps');
      return [];
    };
    await harness.collector({ processes: { list, find: async () => undefined } }).collect();
    assert.deepEqual(await harness.names(), ['a']);
    assert.match(harness.lines.join(), /Could not be collected/);
  });

  test('a base is kept for a day after its last Pod (INC-47)', async () => {
    addOurs(golden('a'), golden('b'));
    const collector = harness.collector();
    await collector.collect();
    harness.clock.advance(day - 1);
    collector.markUsed(golden('b'));
    await collector.collect();
    assert.equal((await harness.names()).length, 2);
    harness.clock.advance(1);
    await collector.collect();
    assert.deepEqual(await harness.names(), [golden('b')]);
    harness.clock.advance(3 * day);
    await collector.collect();
    assert.deepEqual(await harness.names(), [golden('b')], 'the last one stays');
  });

  test('a full disk: deletes image and golden base, measures the disk after each, and stops when it has enough space (INC-52, INC-53)', async () => {
    for (const letter of ['a', 'b', 'c']) {
      await addImage(letter, letter);
      await harness.tart.clone(image(letter), golden(letter));
      harness.ours.add(golden(letter));
    }
    // All three are needed: each has a warm Pod.
    harness.state.pods = ['a', 'b', 'c'].map((letter) => ({ vm: `pod-${letter}`, images: [image(letter)] }));
    harness.state.disk = { freeBytes: 10, totalBytes: 100 };
    const disk = async () => {
      const bases = (await harness.names()).filter((name) => name.startsWith('tuist-golden-')).length;
      return { freeBytes: bases === 3 ? 10 : 20, totalBytes: 100 };
    };
    await harness.collector({ disk }).collect();
    const left = await harness.names();
    const bases = left.filter((name) => name.startsWith('tuist-golden-'));
    assert.equal(bases.length, 2);
    const lost = ['a', 'b', 'c'].find((letter) => !bases.includes(golden(letter))) ?? '';
    assert.ok(!left.includes(image(lost)) && !left.includes(`${repository}:${lost}`), 'its image went with it');
    assert.equal(left.filter((name) => name.includes('/')).length, 4, 'the images of the others stay');
  });

  test('a disk that stays full ends the round with one base left', async () => {
    addOurs(golden('a'), golden('b'), golden('c'), 'orphan');
    harness.state.disk = { freeBytes: 1, totalBytes: 100 };
    await harness.collector().collect();
    assert.equal((await harness.names()).length, 1);
  });

  test('frees something after a lack of space even if the disk has free space, and no more than that (B2)', async () => {
    addOurs(golden('a'), golden('b'), golden('c'));
    const collector = harness.collector();
    await collector.freeSpace();
    assert.equal((await harness.names()).length, 2);
    await collector.collect();
    assert.equal((await harness.names()).length, 2);
  });

  test('a VM that cannot be deleted does not block the round', async () => {
    addOurs('orphan', golden('a'), golden('b'));
    harness.state.disk = { freeBytes: 1, totalBytes: 100 };
    harness.fake.controls.command('delete', { answer: { code: 1, stderr: 'Error: out of order' } });
    await harness.collector().collect();
    assert.equal((await harness.names()).length, 3);
    assert.equal(harness.fake.journal.calls('delete').length, 3);
  });

  test('deletes an image with its tags when no Pod and no golden base needs it; foreign images stay (B1, INC-48)', async () => {
    await addImage('a', 'one');
    await addImage('b', 'two');
    harness.fake.controls.image('ghcr.io/other/base:1', { digest: digest('c'), percents: [100] });
    await harness.tart.pull('ghcr.io/other/base:1');
    harness.state.pods = [{ vm: 'x', images: [`${repository}:two`] }];
    await harness.collector().collect();
    assert.deepEqual(
      [...(await harness.names())].sort(),
      ['ghcr.io/other/base:1', `ghcr.io/other/base@${digest('c')}`, image('b'), `${repository}:two`].sort(),
    );
    assert.ok(!harness.ours.has(image('a')));
  });

  test('runs concurrent rounds one after the other', async () => {
    addOurs('a', 'b');
    const collector = harness.collector({ openFiles: allClosed });
    await Promise.all([collector.collect(), collector.freeSpace(), collector.collect()]);
    assert.equal(harness.fake.journal.calls('delete').length, 2);
  });
});
