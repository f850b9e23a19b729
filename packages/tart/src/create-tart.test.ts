import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { noSpaceTexts } from '@tartan/sim-mac';
import type { PullProgress } from './pull-progress.ts';
import { isTartError, type TartError, type TartReason } from './tart-error.ts';
import { createTartHarness, type TartHarness } from './testing/tart-harness.ts';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const failsWith =
  (...reasons: TartReason[]) =>
  (error: unknown): boolean =>
    isTartError(error, ...reasons);

const groupIsGone = (pid: number): Promise<true> =>
  eventually(`nobody is left of group ${pid}`, () => {
    try {
      process.kill(-pid, 0);
      return false;
    } catch {
      return true;
    }
  });

describe('the driver of tart', () => {
  let bench: TartHarness;
  beforeEach(() => {
    bench = createTartHarness();
  });
  afterEach(() => bench.remove());

  const configOf = (name: string): string => readFileSync(join(bench.fake.home, 'vms', name, 'config.json'), 'utf8');
  const failure = async (call: Promise<unknown>): Promise<TartError> => {
    const error: unknown = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(isTartError(error));
    return error;
  };

  test('returns the version of tart', async () => assert.equal(await bench.tart.version(), '2.32.1'));

  test('names the path when tart is not installed', async () => {
    const error = await failure(bench.driver({ path: '/nowhere/tart' }).list());
    assert.equal(error.reason, 'not installed');
    assert.match(error.message, /\/nowhere\/tart/);
  });

  describe('list and get', () => {
    test('return VMs and images, by tag and digest', async () => {
      bench.fake.addVm('base');
      bench.fake.controls.image('ghcr.io/a/b:1', { digest: digest('a') });
      await bench.tart.pull('ghcr.io/a/b:1');
      assert.deepEqual(
        (await bench.tart.list()).map(({ source, name, state }) => [source, name, state]),
        [
          ['local', 'base', 'stopped'],
          ['OCI', 'ghcr.io/a/b:1', 'stopped'],
          ['OCI', `ghcr.io/a/b@${digest('a')}`, 'stopped'],
        ],
      );
    });

    test('return undefined for a missing VM, and reject on an error (INC-49)', async () => {
      assert.equal(await bench.tart.get('x'), undefined);
      bench.fake.controls.command('get', { answer: { code: 1, stderr: 'Error: something' } });
      await assert.rejects(bench.tart.get('x'), failsWith('other'));
      mkdirSync(join(bench.fake.home, 'vms', 'broken'));
      bench.fake.controls.command('get', {});
      await assert.rejects(bench.tart.get('broken'), failsWith('other'));
    });

    test('accept any encoding of Size (INC-49)', async () => {
      bench.fake.addVm('base');
      for (const size of ['int', 'float', 'string', 'null'] as const) {
        bench.fake.controls.host({ size });
        assert.equal((await bench.tart.get('base'))?.state, 'stopped');
        assert.equal((await bench.tart.list()).length, 1);
      }
    });

    test('reject malformed output as unreadable', async () => {
      for (const stdout of ['', '{"x":', 'Error: no', 'null']) {
        bench.fake.controls.command('list', { answer: { code: 0, stdout } });
        bench.fake.controls.command('get', { answer: { code: 0, stdout } });
        await assert.rejects(bench.tart.list(), failsWith('unreadable'));
        await assert.rejects(bench.tart.get('x'), failsWith('unreadable'));
      }
    });
  });

  describe('a call', () => {
    test('that hangs is killed with its process group, even if it ignores SIGTERM (INC-27)', async () => {
      for (const hang of ['before', 'stubborn'] as const) {
        bench.fake.controls.command('list', { hang });
        const clock = manualClock();
        const count = bench.fake.journal.calls('list').length;
        const call = failure(bench.driver({ clock, deadlines: { probe: 100 } }).list());
        const { pid } = await eventually('it has begun', () => bench.fake.journal.calls('list')[count]);
        clock.advance(100);
        clock.advance(2_000);
        assert.equal((await call).reason, 'timed out');
        await groupIsGone(pid);
      }
    });

    test('ends although another process holds its pipes open (INC-27)', async () => {
      bench.fake.controls.command('list', { hang: 'orphan' });
      assert.deepEqual(await bench.tart.list(), []);
      const pid = bench.fake.journal.calls('list').at(-1)?.pid ?? 0;
      await groupIsGone(pid);
    });

    test('is aborted by its signal, and not started if the signal has fired before', async () => {
      const controller = new AbortController();
      bench.fake.controls.command('list', { hang: 'before' });
      const call = bench.tart.list({ signal: controller.signal });
      await eventually('it has begun', () => bench.fake.journal.calls('list').length === 1);
      controller.abort();
      await assert.rejects(call, failsWith('aborted'));
      await assert.rejects(bench.tart.list({ signal: controller.signal }), failsWith('aborted'));
      assert.equal(bench.fake.journal.calls('list').length, 1);
    });

    test('that writes without end is killed', async () => {
      writeFileSync(join(bench.folder, 'endless'), '#!/bin/sh\nexec yes\n', { mode: 0o755 });
      const driver = bench.driver({ path: join(bench.folder, 'endless') });
      await assert.rejects(driver.list(), failsWith('unreadable'));
    });
  });

  describe('pull', () => {
    test('reports its progress', async () => {
      bench.fake.controls.image('ghcr.io/a/b:1', { digest: digest('a'), percents: [0, 43, 100] });
      const seen: PullProgress[] = [];
      await bench.tart.pull('ghcr.io/a/b:1', { onProgress: (progress) => seen.push(progress) });
      assert.deepEqual(
        seen.map((progress) => (progress.stage === 'disk' ? progress.percent : progress.stage)),
        ['manifest', 0, 0, 43, 100, 'NVRAM'],
      );
      seen.length = 0;
      await bench.tart.pull('ghcr.io/a/b:1', { onProgress: (progress) => seen.push(progress) });
      assert.deepEqual(seen.at(-1), { stage: 'cached' });
      assert.equal(bench.fake.journal.calls('pull')[0]?.ci, true);
      assert.equal(bench.fake.journal.calls('pull')[0]?.autoPrune, false);
    });

    /** The only pull is half done. */
    const isAtHalf = (): boolean =>
      readdirSync(join(bench.fake.home, 'tmp'))
        .map((part) => join(bench.fake.home, 'tmp', part, 'disk.img'))
        .some((disk) => existsSync(disk) && readFileSync(disk, 'utf8').endsWith('50\n'));

    test('that is slow goes on, even without output for long (INC-422)', async () => {
      for (const quiet of [false, true]) {
        const name = `ghcr.io/a/b:${quiet ? 'quiet' : 'loud'}`;
        const slow = { digest: digest(quiet ? 'b' : 'a'), quiet };
        bench.fake.controls.image(name, { ...slow, stallAt: 50 });
        const clock = manualClock();
        const pulled = bench.driver({ clock }).pull(name);
        await eventually('half is there', isAtHalf);
        clock.advance(300_000);
        bench.fake.controls.image(name, slow);
        await pulled;
      }
    });

    test('that stalls is killed, and the next one resumes it', async () => {
      bench.fake.controls.image('ghcr.io/a/b:1', { digest: digest('a'), stallAt: 50 });
      const clock = manualClock();
      const driver = bench.driver({ clock });
      const stalled = failure(driver.pull('ghcr.io/a/b:1'));
      await eventually('half is there', isAtHalf);
      let isOver = false;
      void stalled.then(() => {
        isOver = true;
      });
      await eventually('the pull is killed', () => {
        clock.advance(300_000);
        return isOver;
      });
      const error = await stalled;
      assert.equal(error.reason, 'timed out');
      assert.match(error.message, /nothing moved/);
      bench.fake.controls.image('ghcr.io/a/b:1', { digest: digest('a') });
      const percents: number[] = [];
      await driver.pull('ghcr.io/a/b:1', {
        onProgress: (progress) => progress.stage === 'disk' && percents.push(progress.percent),
      });
      assert.deepEqual(percents, [0, 60, 70, 80, 90, 100]);
    });

    test('passes credentials by environment, and no secret in arguments or errors', async () => {
      bench.fake.controls.image('ghcr.io/a/b:1', { digest: digest('a'), credentials: 'robot:s3cret/word' });
      await assert.rejects(bench.tart.pull('ghcr.io/a/b:1'), failsWith('registry refused'));
      const credentials = { host: 'ghcr.io', username: 'robot', password: 's3cret/word' };
      await bench.tart.pull('ghcr.io/a/b:1', { credentials });
      const forms = ['s3cret/word', 's3cret%2Fword', Buffer.from('robot:s3cret/word').toString('base64')];
      const stderr = `Error: the challenge ${forms.join(' and ')} was refused`;
      bench.fake.controls.command('pull', { answer: { code: 1, stderr } });
      const error = await failure(bench.tart.pull('ghcr.io/a/b:1', { credentials }));
      assert.match(error.tail, /redacted/);
      const calls = bench.fake.journal.calls('pull');
      assert.equal(calls[1]?.registryUser, 'robot');
      for (const text of [error.message, error.tail, error.stack ?? '', JSON.stringify(calls)])
        assert.doesNotMatch(text, /s3cret|cm9ib3Q6/);
    });

    test('reports a full disk in every wording of macOS (INC-45)', async () => {
      for (const noSpace of noSpaceTexts) {
        bench.fake.controls.host({ noSpace });
        await assert.rejects(bench.tart.pull('ghcr.io/a/b:1'), failsWith('no space'));
      }
    });
  });

  describe('clone', () => {
    beforeEach(() => bench.fake.addVm('base'));

    test('makes a VM with its own MAC address', async () => {
      await bench.tart.clone('base', 'one');
      assert.equal((await bench.tart.get('one'))?.state, 'stopped');
      const mac = /"macAddress" : "(.*)"/;
      assert.notEqual(mac.exec(configOf('one'))?.[1], mac.exec(configOf('base'))?.[1]);
    });

    test('never overwrites an existing name, even that of a broken folder (INC-429)', async () => {
      bench.fake.addVm('one');
      mkdirSync(join(bench.fake.home, 'vms', 'broken'));
      for (const name of ['one', 'broken'])
        await assert.rejects(bench.tart.clone('base', name), failsWith('already exists'));
      assert.equal(bench.fake.journal.calls('clone').length, 0);
    });

    test('makes one VM when two clones use the same name', async () => {
      const outcomes = await Promise.allSettled([bench.tart.clone('base', 'one'), bench.tart.clone('base', 'one')]);
      assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
      assert.equal(bench.fake.journal.calls('clone').length, 1);
    });

    test('of a missing source is rejected as missing', async () => {
      await assert.rejects(bench.tart.clone('nothing', 'one'), failsWith('missing'));
      assert.deepEqual(readdirSync(join(bench.fake.home, 'vms')), ['base']);
    });

    test('reports a full disk', async () => {
      bench.fake.controls.host({ noSpace: noSpaceTexts[0] });
      await assert.rejects(bench.tart.clone('base', 'one'), failsWith('no space'));
    });
  });

  test('set changes size and identity', async () => {
    bench.fake.addVm('one');
    const before = configOf('one');
    await bench.tart.set('one', {
      cpu: 6,
      memoryMb: 14_336,
      randomSerial: true,
      randomMac: true,
    });
    const details = await bench.tart.get('one');
    assert.deepEqual([details?.cpu, details?.memoryMb], [6, 14_336]);
    for (const key of ['ecid', 'macAddress']) {
      const value = new RegExp(`"${key}" : "(.*)"`);
      assert.notEqual(value.exec(configOf('one'))?.[1], value.exec(before)?.[1]);
    }
    await assert.rejects(bench.tart.set('one', { cpu: 1 }), failsWith('invalid'));
    await assert.rejects(bench.tart.set('two', { cpu: 4 }), failsWith('missing'));
    await bench.tart.set('two', {});
  });

  test('delete of a missing VM succeeds (INC-402)', async () => {
    bench.fake.addVm('one');
    await bench.tart.delete('one');
    await bench.tart.delete('one');
    await bench.tart.delete('ghcr.io/a/b:1');
    assert.equal(existsSync(join(bench.fake.home, 'vms', 'one')), false);
  });

  test('names that look like options never reach tart', async () => {
    for (const call of [
      bench.tart.get('--help'),
      bench.tart.delete('-x'),
      bench.tart.pull('--insecure'),
      bench.tart.clone('base', '-x'),
      bench.tart.stop('-x', { timeoutSeconds: 1 }),
      bench.tart.ip('-x'),
      bench.tart.run('-x', { logFile: join(bench.folder, 'log') }),
    ])
      await assert.rejects(call, failsWith('invalid'));
    assert.equal(bench.fake.journal.calls().length, 0);
  });
});
