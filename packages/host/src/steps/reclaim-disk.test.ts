import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { systemClock } from '@tartan/kube/clock';
import { type Mac, standInSoftware } from '@tartan/sim-mac';
import { exampleArtifact, exampleSpec, putInStore } from '../testing/example-spec.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { runStep } from '../testing/run-step.ts';
import { builderTools } from './builder.ts';
import { tart } from './tart.ts';

const gigabyte = 1024 ** 3;

/** The installed program, run by the shell of a builder with the stand-in for tart. */
describe('the command tartan-reclaim-disk', () => {
  let macs: FreshMacs;
  let mac: Mac;
  before(async () => {
    macs = freshMacs();
    mac = await macs.start();
    const software = await standInSoftware(join(macs.folder, 'software'));
    const spec = exampleSpec(macs.folder);
    assert.ok(spec.ghActionsRunner);
    const packer = exampleArtifact(macs.folder, 'packer', '#!/bin/sh\n[ "$1" = version ] || sleep 100000\n');
    const builder = { ...spec.ghActionsRunner, packer };
    putInStore(mac, software.tart, packer, builder.crane, builder.oras);
    const installed = { ...spec, tart: software.tart, ghActionsRunner: builder };
    for (const { result, stderr } of [await runStep(mac, tart, installed), await runStep(mac, builderTools, installed)])
      assert.equal(result, 'applied', stderr);
  });
  after(() => macs.stopAll());

  const home = (path = ''): string => mac.path(`/Users/m1/.tart/${path}`);
  const vms = (): string[] => readdirSync(home('vms')).toSorted();
  const control = (key: string, value: string): void => {
    mkdirSync(join(home(`.fake/${key}`), '..'), { recursive: true });
    writeFileSync(home(`.fake/${key}`), `${value}\n`);
  };
  const addVm = (name: string): void => {
    mkdirSync(home(`vms/${name}`), { recursive: true });
    const long = new Date(systemClock.now() - 10 * 24 * 3_600_000);
    for (const file of ['config.json', 'disk.img', 'nvram.bin', '']) {
      if (file !== '') writeFileSync(home(`vms/${name}/${file}`), '');
      utimesSync(home(`vms/${name}/${file}`), long, long);
    }
  };
  /** Processes that hang until they are killed. */
  const working: Promise<unknown>[] = [];
  const begin = async (command: string, shows: string): Promise<void> => {
    working.push(mac.run(`PATH="$TARTAN_ROOT/usr/local/bin:$PATH"; echo $$ >>"$HOME/working"; exec ${command}`));
    // The brackets keep it from finding itself.
    const { code } = await mac.run(
      `until ps -ax -ww -o args= | grep -q '[${shows.slice(0, 1)}]${shows.slice(1)}'; do sleep 1; done`,
    );
    assert.equal(code, 0);
  };
  const reclaim = (args = '', before = ':') =>
    mac.run(`PATH="$TARTAN_ROOT/usr/local/bin:$PATH"; ${before}; tartan-reclaim-disk ${args}`);
  const prunes = async (): Promise<string[]> => {
    const { stdout } = await mac.run(`tr '\\037' ' ' <"$HOME/.tart/.fake/journal" | grep -o 'prune.*' | tr -d '\\036'`);
    return stdout.split('\n').filter((line) => line !== '');
  };

  beforeEach(() => {
    for (const folder of ['vms', 'tmp', '.fake/running']) mkdirSync(home(folder), { recursive: true });
    for (const name of ['base', 'old-bake', 'tuist-runner']) addVm(name);
    mac.faults.diskFree = 400 * gigabyte;
  });
  afterEach(async () => {
    const { stdout } = await mac.run('cat "$HOME/working" 2>/dev/null; rm -f "$HOME/working"');
    for (const pid of stdout.split('\n').map(Number)) if (pid > 0) process.kill(-pid, 'SIGKILL');
    await Promise.all(working.splice(0));
    rmSync(home(), { recursive: true });
    mac.faults.diskFree = undefined;
  });

  it('deletes stopped VMs, keeps the named ones, and prints the result', async () => {
    const { code, stdout, stderr } = await reclaim('base');
    assert.equal(code, 0, stderr);
    assert.deepEqual(vms(), ['base']);
    assert.match(stdout, /^left alone {2}base: it was named$/m);
    assert.match(stdout, /^deleted {2}old-bake$/m);
    assert.match(stdout, /^enough {2}(?:399|400) GB are free, 300 are wanted$/m);
    assert.equal(stdout.match(/^Filesystem/gm)?.length, 2, 'df before and after');
    assert.deepEqual(await prunes(), []);
    assert.equal((await reclaim()).code, 0);
    assert.deepEqual(vms(), []);
  });

  it('keeps running VMs', async () => {
    writeFileSync(home('vms/base/.pid'), `${process.pid}\n`);
    const { stdout } = await reclaim();
    assert.deepEqual(vms(), ['base']);
    assert.match(stdout, /^left alone {2}base: it is not stopped$/m);
  });

  for (const verb of ['push', 'clone', 'export'])
    it(`keeps a VM that tart uses: ${verb}`, async () => {
      control(`commands/${verb}/hang`, 'before');
      await begin(`tart ${verb} tuist-runner ghcr.io/acme/runner:1`, `MacOS/tart ${verb} tuist-runner`);
      const { code, stdout } = await reclaim();
      assert.equal(code, 0);
      assert.deepEqual(vms(), ['tuist-runner']);
      assert.match(stdout, /^left alone {2}tuist-runner: a tart works with it$/m);
    });

  it('keeps no VM that only has a similar name', async () => {
    control('commands/push/hang', 'before');
    addVm('tuist-runner-2');
    await begin('tart push tuist-runner-2 ghcr.io/acme/tuist-runner:1', 'MacOS/tart push tuist-runner-2');
    await reclaim();
    assert.deepEqual(vms(), ['tuist-runner-2']);
  });

  it('keeps all VMs and images while packer runs', async () => {
    mac.faults.diskFree = 20 * gigabyte;
    await begin('packer build image.pkr.hcl', 'bin/packer build');
    const { code, stdout } = await reclaim();
    assert.equal(code, 0);
    assert.equal(vms().length, 3);
    assert.match(stdout, /^left alone {2}base: packer runs$/m);
    assert.deepEqual(await prunes(), ['prune --entries caches --older-than 1']);
    assert.match(stdout, /^left alone {2}the other images: somebody is about to use one$/m);
  });

  it('deletes nothing when running VMs cannot be listed', async () => {
    const noPs =
      'mkdir -p "$HOME/bin"; printf "exit 1\\n" >"$HOME/bin/ps"; chmod 755 "$HOME/bin/ps"; PATH="$HOME/bin:$PATH"';
    const { code, stderr } = await reclaim('', noPs);
    assert.equal(code, 1);
    assert.equal(vms().length, 3);
    assert.match(stderr, /nobody can say what runs on this Mac, so base is left alone/);
  });

  it('keeps recently written VMs with --keep-newer', async () => {
    writeFileSync(home('vms/tuist-runner/disk.img'), 'just built');
    const { stdout } = await reclaim('--keep-newer 60');
    assert.deepEqual(vms(), ['tuist-runner']);
    assert.match(stdout, /written to in the last 60 minutes/);
    await reclaim();
    assert.deepEqual(vms(), []);
  });

  it('prunes images only while space is missing: first old ones, then all', async () => {
    mac.faults.diskFree = 120 * gigabyte;
    await reclaim('--free 100');
    assert.deepEqual(await prunes(), []);
    const { code, stdout } = await reclaim();
    assert.equal(code, 0);
    assert.deepEqual(await prunes(), [
      'prune --entries caches --older-than 1',
      'prune --entries caches --space-budget 0',
    ]);
    assert.match(stdout, /^not enough {2}1\d\d GB are free, 300 are wanted$/m);
  });

  it('only prints with --dry-run', async () => {
    mac.faults.diskFree = 20 * gigabyte;
    const { code, stdout } = await reclaim('--dry-run base');
    assert.equal(code, 0);
    assert.equal(vms().length, 3);
    assert.deepEqual(await prunes(), []);
    assert.match(stdout, /^would delete {2}old-bake$/m);
    assert.match(stdout, /^would prune {2}all images$/m);
  });

  it('continues after a failed deletion, and reports it at the end', async () => {
    control('commands/delete/exit', '1');
    control('commands/delete/stderr', 'Error: it is in use');
    control('commands/delete/times/1', '');
    const { code, stderr } = await reclaim();
    assert.equal(code, 1);
    assert.deepEqual(vms(), ['base']);
    assert.match(stderr, /base could not be deleted: Error: it is in use/);
  });

  it('prints its usage, and rejects unknown options', async () => {
    const { code, stdout } = await reclaim('--help');
    assert.equal(code, 0);
    for (const word of ['--free GB', '--keep-newer MINUTES', '--dry-run', 'packer', 'Exit: 0'])
      assert.ok(stdout.includes(word), word);
    for (const args of ['--keep', '--free', '--free 1.5', '--keep-newer x']) {
      const refused = await reclaim(args);
      assert.equal(refused.code, 64, args);
      assert.match(refused.stderr, /See tartan-reclaim-disk --help/);
    }
    assert.equal(vms().length, 3);
    assert.equal((await reclaim('', 'rm "$TARTAN_ROOT/usr/local/bin/tart"')).code, 69);
    assert.ok(existsSync(home('vms/base')));
  });
});
