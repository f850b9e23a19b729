import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Mac } from '@tartan/sim-mac';
import { quote, scriptText, shellCommand } from './engine/compose-script.ts';
import { type LaunchdJob, renderPlist } from './launchd-plist.ts';
import { type FreshMacs, freshMacs } from './testing/fresh-macs.ts';

describe('scripts/launchd.sh', () => {
  let macs: FreshMacs;
  let mac: Mac;
  before(async () => {
    macs = freshMacs();
    mac = await macs.start();
  });
  after(() => macs.stopAll());

  /** Runs until it is killed. */
  const job = (label: string, more: Partial<LaunchdJob> = {}): string =>
    renderPlist({
      Label: label,
      ProgramArguments: ['/bin/sh', '-c', 'while :; do sleep 3600; done'],
      KeepAlive: true,
      ...more,
    });

  const program = (lines: string): string => [...['lib', 'step', 'launchd'].map(scriptText), lines].join('\n');
  const run = (lines: string): ReturnType<Mac['run']> => mac.run(shellCommand(program(lines), { asRoot: true }));
  const register = (label: string, plist: string): ReturnType<Mac['run']> =>
    run(`register_job ${label} ${quote(plist)}`);
  const reload = (label: string, plist: string): ReturnType<Mac['run']> => run(`reload_job ${label} ${quote(plist)}`);
  const fileOf = (label: string): string => mac.path(`/Library/LaunchDaemons/${label}.plist`);
  const registrations = (label: string): number =>
    mac.journal.entries.filter(({ what, detail }) => what === 'launchd.bootstrap' && detail.startsWith(label)).length;

  test('a job is registered once, and again only when its plist differs', async () => {
    for (const plist of [job('once'), job('once'), job('once', { ThrottleInterval: 20 })]) {
      const { code, stderr } = await register('once', plist);
      assert.equal(code, 0, stderr);
      assert.equal(readFileSync(fileOf('once'), 'utf8'), plist);
    }
    assert.equal(registrations('once'), 2);
    assert.equal(mac.job('once')?.state, 'running');
  });

  test('a job that was booted out is registered again from the same file', async () => {
    await register('out', job('out'));
    await mac.run('launchctl bootout system/out', { asRoot: true });
    const { code, stderr } = await register('out', job('out'));
    assert.equal(code, 0, stderr);
    assert.equal(mac.job('out')?.state, 'running');
  });

  test('a job that is loaded but not running is started, not registered again', async () => {
    mac.faults.crashLoop.add('dead');
    const failed = await reload('dead', job('dead'));
    assert.equal(failed.code, 1);
    assert.match(
      failed.stderr,
      /^the launchd job dead was started, but it (does not stay up|starts again and again)$/m,
    );
    mac.faults.crashLoop.delete('dead');
    const { code, stderr } = await reload('dead', job('dead'));
    assert.equal(code, 0, stderr);
    assert.equal(registrations('dead'), 1);
  });

  test('the plist of a job is written only while the job is not loaded, so the loaded job has this plist', async () => {
    await register('text', job('text'));
    const changed = job('text', { ThrottleInterval: 20 });
    // Interrupted right before the file is written: the old job is already unloaded.
    const cut = await run(`write_file() { cat >/dev/null; kill -9 $$; }; register_job text ${quote(changed)}`);
    assert.notEqual(cut.code, 0);
    assert.equal(readFileSync(fileOf('text'), 'utf8'), job('text'));
    assert.equal(mac.job('text'), undefined);
    assert.equal((await reload('text', changed)).code, 0);
    assert.equal(mac.job('text')?.state, 'running');
  });

  test('a full disk leaves the old plist, also inside a condition', async () => {
    await register('full', job('full'));
    const changed = job('full', { ThrottleInterval: 20 });
    const { stdout } = await run(
      `cat() { return 1; }; if register_job full ${quote(changed)}; then echo yes; else echo no; fi`,
    );
    assert.equal(stdout, 'no\n');
    assert.equal(readFileSync(fileOf('full'), 'utf8'), job('full'));
  });

  test('a job is registered again although launchd needs a while to remove the old one (INC-220)', async () => {
    // So slow that the script reaches its bootstrap well before these four seconds are over.
    const slow = await macs.start({ pace: 0.2 });
    const renew = (plist: string): ReturnType<Mac['run']> =>
      slow.run(shellCommand(program(`register_job drained ${quote(plist)}`), { asRoot: true }));
    assert.equal((await renew(job('drained'))).code, 0);
    const { code, stderr } = await renew(job('drained', { ThrottleInterval: 20 }));
    assert.equal(code, 0, stderr);
    assert.equal(slow.job('drained')?.state, 'running');
  });

  test('a job that cannot be loaded fails with the reason', async () => {
    const { code, stderr } = await register('unreadable', '<plist>&</plist>');
    assert.equal(code, 1);
    assert.match(stderr, /the launchd job unreadable was not loaded: launchd cannot read the job: .* \(5: /);
  });

  test('a file that others may write is reported as the reason', async () => {
    const { code, stderr } = await run(`JOB_OWNER=${mac.user.name}:staff; register_job owned ${quote(job('owned'))}`);
    assert.equal(code, 1);
    assert.match(stderr, /the launchd job owned was not loaded: its file may be written by others .* \(122: /);
  });

  test('a missing session is reported as the reason', async () => {
    const { code, stderr } = await run(`JOB_DOMAIN=gui/501; register_job session ${quote(job('session'))}`);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /the launchd job session was not loaded: there is no domain gui\/501: nobody is logged in .* \(125: /,
    );
  });

  test('a removed job and its file are gone; removing it again does nothing', async () => {
    await register('gone', job('gone'));
    for (const _ of [1, 2]) {
      assert.equal((await run('remove_job gone')).code, 0);
      assert.equal(mac.job('gone'), undefined);
      assert.equal(existsSync(fileOf('gone')), false);
    }
    assert.equal((await run('check_no_job gone')).stdout, '');
  });

  test('the difference is named', async () => {
    const differs = async (lines: string): Promise<string[]> =>
      (await run(lines)).stdout.split('\n').filter((line) => line !== '');
    const plist = job('named');
    assert.deepEqual(await differs(`check_job named ${quote(plist)}; check_running named`), [
      'differs\tthe launchd job named is described otherwise',
      'differs\tthe launchd job named is not loaded',
      'differs\tthe launchd job named is not running',
    ]);
    await reload('named', plist);
    assert.deepEqual(await differs(`check_job named ${quote(plist)}; check_running named`), []);
    assert.deepEqual(await differs('check_no_job named'), [
      'differs\tthe launchd job named is still installed',
      'differs\tthe launchd job named is still loaded',
    ]);
  });
});
