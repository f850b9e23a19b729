import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { type FakeTart, hostilePrograms, installFakeTart, noSpaceTexts } from './fake-tart.ts';

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;

describe('the fake tart', () => {
  let folder: string;
  let fake: FakeTart;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-fake-tart-'));
    fake = installFakeTart(folder);
    fake.addVm('base');
  });
  afterEach(() => {
    fake.powerOff();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  const environment = (more: object = {}) => ({
    PATH: process.env['PATH'],
    HOME: folder,
    TART_HOME: fake.home,
    ...more,
  });
  /** `2 text of stderr` or `0 text of stdout`. */
  const tart = (args: string, more: object = {}): Promise<string> =>
    new Promise((resolve) => {
      execFile(fake.path, args.split(' '), { env: environment(more) }, (error, stdout, stderr) =>
        resolve(`${error === null ? 0 : error.code} ${stdout}${stderr}`.trimEnd()),
      );
    });
  const start = (args: string): ChildProcess => {
    const log = openSync(join(folder, 'log'), 'w');
    return spawn(fake.path, ['run', ...args.split(' ')], {
      env: environment(),
      detached: true,
      stdio: ['ignore', log, log],
    });
  };
  const ended = async (child: ChildProcess): Promise<string> => {
    const [code, signal] =
      child.exitCode === null && child.signalCode === null
        ? await once(child, 'exit')
        : [child.exitCode, child.signalCode];
    return `${code ?? signal} ${readFileSync(join(folder, 'log'), 'utf8')}`.trimEnd();
  };
  const booted = (name: string): Promise<true> =>
    eventually(`${name} has booted`, async () => (await tart(`exec ${name} true`)).startsWith('0'));

  test('the exit code is 2 for a missing or stopped VM, and 1 for deleting a running one', async () => {
    const missing = '2 the specified VM "x" does not exist';
    for (const call of ['get x', 'ip x', 'stop x', 'delete x', 'set x --cpu 4', 'exec x true', 'clone x y'])
      assert.equal(await tart(call), missing, call);
    assert.equal(await tart('run x'), '1 Error: the specified VM "x" does not exist');
    assert.equal(await tart('stop base'), '2 VM "base" is not running');
    assert.equal(await tart('exec base true'), '2 VM "base" is not running');
    start('base');
    await booted('base');
    assert.equal(await tart('delete base'), '1 VM "base" is running');
    assert.equal(await tart('run base'), '2 VM "base" is already running!');
  });

  test('wrong arguments are 64', async () => {
    for (const call of ['list --source x', 'clone base a/b', 'nonsense', 'run base --graphics --no-graphics', 'prune'])
      assert.match(await tart(call), /^64 Error: /, call);
  });

  test('a folder without one of its three files is not listed', async () => {
    rmSync(join(fake.home, 'vms', 'base', 'nvram.bin'));
    assert.equal(await tart('list -q'), '0');
    assert.match(await tart('get base'), /^1 VM is missing some of its files/);
  });

  test('Size is a number in list and a string in get (INC-49)', async () => {
    assert.match(await tart('list --format json'), /"Size" : 20,/);
    assert.match(await tart('get base --format json'), /"Size" : "20.125"/);
  });

  test('a clone replaces a VM with its name, also a running one (INC-429)', async () => {
    fake.addVm('two');
    start('two');
    await booted('two');
    assert.equal(await tart('clone base two'), '0');
    assert.match(await tart('get two'), /stopped/);
    assert.match(await tart('run two'), /^1 .*Failed to lock auxiliary storage/);
  });

  test('a stale state is reported as stopped', async () => {
    start('base');
    await booted('base');
    assert.match(await tart('get base'), /running/);
    fake.controls.host({ state: 'stale' });
    assert.match(await tart('get base'), /stopped/);
    assert.equal(await tart('stop base'), '2 VM "base" is not running');
  });

  test('an address outlives its guest', async () => {
    fake.controls.guest('base', { address: '192.168.64.9' });
    assert.equal(await tart('ip base'), '1 no IP address found, is your VM running?');
    const vm = start('base');
    await booted('base');
    assert.equal(await tart('stop base'), '0');
    assert.equal(await ended(vm), '0 Stopping VM...');
    assert.equal(await tart('ip base'), '0 192.168.64.9');
  });

  test('two guests at most; a leak takes a slot until the Mac is rebooted', async () => {
    fake.addVm('two');
    fake.addVm('three');
    start('base');
    start('two');
    await booted('base');
    await booted('two');
    assert.match(
      await tart('run three'),
      /^1 The number of VMs exceeds the system limit \(other running VMs: \w+, \w+\)/,
    );
    fake.controls.host({ leaksSlots: true });
    assert.equal(await tart('stop two'), '0');
    assert.match(await tart('run three'), /^1 The number of VMs exceeds the system limit \(other running VMs: base\)$/);
    assert.equal(await tart('stop base'), '0');
    assert.equal(await tart('run three'), '1 The number of VMs exceeds the system limit');
    fake.controls.host({ leaksSlots: undefined });
    fake.controls.reboot();
    start('three');
    await booted('three');
  });

  test('of several concurrent starts only one gets the last slot or the VM', async () => {
    fake.controls.host({ limit: 1 });
    const names = ['base', 'base', 'two', 'three'];
    for (const name of ['two', 'three']) fake.addVm(name);
    const vms = names.map((name) => start(name));
    await eventually('three have ended', () => vms.filter(({ exitCode }) => exitCode !== null).length === 3);
    const [left] = names.filter((_, at) => vms[at]?.exitCode === null);
    await booted(left ?? '');
  });

  test('an image exists by tag and digest, and is deleted with its last tag', async () => {
    fake.controls.image('ghcr.io/a/b:1', { digest: digest('a') });
    fake.controls.image('ghcr.io/a/b:2', { digest: digest('a') });
    await tart('pull ghcr.io/a/b:1');
    assert.match(await tart('pull ghcr.io/a/b:2'), /already cached! creating a symlink/);
    assert.match(await tart('pull ghcr.io/a/b:2'), /already cached and linked!/);
    assert.equal(await tart('fqn ghcr.io/a/b:1'), `0 ghcr.io/a/b@${digest('a')}`);
    await tart('delete ghcr.io/a/b:1');
    assert.equal(await tart('list -q --source oci'), `0 ghcr.io/a/b:2\nghcr.io/a/b@${digest('a')}`);
    await tart('delete ghcr.io/a/b:2');
    assert.equal(await tart('list -q --source oci'), '0');
  });

  test('a tag moves only by a pull, never by a clone (INC-424)', async () => {
    fake.controls.image('localhost:5000/a:1', { digest: digest('a') });
    await tart('clone localhost:5000/a:1 one');
    fake.controls.image('localhost:5000/a:1', { digest: digest('b') });
    await tart('clone localhost:5000/a:1 two');
    assert.equal(readFileSync(join(fake.home, 'vms', 'two', 'disk.img'), 'utf8'), `disk of ${digest('a')}\n`);
    await tart('pull localhost:5000/a:1');
    await tart('clone localhost:5000/a:1 three');
    assert.equal(readFileSync(join(fake.home, 'vms', 'three', 'disk.img'), 'utf8'), `disk of ${digest('b')}\n`);
    assert.ok(existsSync(join(fake.home, 'cache/OCIs/localhost%3A5000/a', digest('b'))));
  });

  test('a partial pull is deleted by the next list, but not by the next pull', async () => {
    fake.controls.image('ghcr.io/a/b:1', { digest: digest('a'), stallAt: 50 });
    const killed = async (): Promise<void> => {
      const pull = spawn(fake.path, ['pull', 'ghcr.io/a/b:1'], { env: environment(), detached: true, stdio: 'ignore' });
      await eventually('it has begun', () =>
        existsSync(join(fake.home, 'tmp', `ghcr.io_a_b@${digest('a')}`, '.percent')),
      );
      process.kill(-(pull.pid ?? 0), 'SIGKILL');
      await once(pull, 'exit');
    };
    await killed();
    assert.equal(readdirSync(join(fake.home, 'tmp')).length, 1);
    await tart('list');
    assert.equal(readdirSync(join(fake.home, 'tmp')).length, 0);
  });

  test('a clone or a pull that has just begun is not collected by a concurrent command', async () => {
    const bin = join(folder, 'slow-bin');
    const script = `#!/bin/sh\n/bin/mkdir "$@"\ncase "$*" in *"$TART_HOME"/tmp/*) "${fake.path}" list >/dev/null ;; esac\n`;
    mkdirSync(bin);
    writeFileSync(join(bin, 'mkdir'), script, { mode: 0o755 });
    const PATH = `${bin}:${process.env['PATH']}`;
    assert.equal(await tart('clone base two', { PATH }), '0');
    assert.match(await tart('pull ghcr.io/a/b:1', { PATH }), /^0 /);
    assert.equal(fake.journal.calls('list').length, 2);
  });

  test('an unknown image is missing when the registry is closed; progress rewrites its line without CI', async () => {
    assert.match(await tart('pull ghcr.io/x/y:1', { CI: '1' }), /\n0%\n10%\n/);
    // oxlint-disable-next-line no-control-regex -- the codes of a terminal are what this is about
    assert.match(await tart('pull ghcr.io/x/y:2'), /\n0%\n\u001b\[1A\u001b\[K10%\n/);
    fake.controls.host({ registry: 'closed' });
    assert.match(await tart('pull ghcr.io/x/y:3'), /^1 [\s\S]*code: 404/);
  });

  test('a full disk is reported with the messages of macOS', async () => {
    for (const noSpace of noSpaceTexts) {
      fake.controls.host({ noSpace });
      assert.ok((await tart('clone base two')).endsWith(noSpace));
    }
  });

  test('push opens nvram.bin last: a bundle that is deleted meanwhile fails there (INC-46)', async () => {
    fake.controls.host({ pushHeld: true });
    const push = spawn(fake.path, ['push', 'base', 'ghcr.io/a/b:1'], { env: environment() });
    const said = text(push.stderr);
    await eventually('it pushes the disk', () => String(push.stdout.read() ?? '').includes('pushing disk'));
    assert.equal(await tart('delete base'), '0');
    fake.controls.host({ pushHeld: undefined });
    assert.match(await said, /nvram\.bin” doesn’t exist/);
    assert.equal(push.exitCode ?? (await once(push, 'exit'))[0], 1);
  });

  test('a test can set the result of some calls', async () => {
    fake.controls.command('list', { answer: { code: 7, stdout: 'out', stderr: 'err', times: 2 } });
    assert.equal(await tart('list -q'), '7 out\nerr');
    assert.equal(await tart('list -q'), '7 out\nerr');
    assert.equal(await tart('list -q'), '0 base');
    assert.deepEqual(
      fake.journal.calls().map(({ argv, exitCode }) => [argv.join(' '), exitCode]),
      [
        ['list -q', 7],
        ['list -q', 7],
        ['list -q', 0],
      ],
    );
  });

  test('a guest can write anything into its share', async () => {
    const status = join(folder, 'status');
    mkdirSync(status);
    const kinds = { symlink: 'isSymbolicLink', fifo: 'isFIFO', directory: 'isDirectory', huge: 'isFile' } as const;
    for (const [kind, check] of Object.entries(kinds)) {
      const name = `vm-${kind}`;
      fake.addVm(name);
      fake.controls.guest(name, { program: hostilePrograms(kind)[kind as keyof typeof kinds] });
      const vm = start(`${name} --dir status:${status}`);
      await eventually('it is there', () => existsSync(join(status, kind)) && lstatSync(join(status, kind))[check]());
      await tart(`stop ${name}`);
      await ended(vm);
    }
    await eventually('it is huge', () => lstatSync(join(status, 'huge')).size > 1_000_000_000);
  });

  test('a guest halts when its program halts it, or ends by an error, a lost network or a signal', async () => {
    fake.controls.guest('base', { program: 'sudo shutdown -h now' });
    assert.equal(await ended(start('base')), '0 guest has stopped the virtual machine');
    fake.controls.guest('base', { program: undefined, lifetimeMs: 10, ends: 'error' });
    assert.match(await ended(start('base')), /^0 .* due to error: /);
    fake.controls.guest('base', { ends: 'network' });
    assert.match(
      await ended(start('base')),
      /^0 virtual machine's network attachment <VZVirtioNetworkDevice: 0x\w+> has been disconnected with error: Error Domain=/,
    );
    fake.controls.guest('base', { ends: 'kill' });
    assert.match(await ended(start('base')), /^SIGKILL/);
    const below = '"$root/sbin/shutdown" -h now';
    for (const program of ['/sbin/shutdown -h now', below, `/sbin/halt; TARTAN_GUEST_ROOT=$PWD exec sh x; ${below}`])
      assert.throws(() => fake.controls.guest('base', { program }), /machine underneath/);
    // For a guest that does not exist.
    fake.controls.guest('nobody', { program: `TARTAN_GUEST_ROOT=$PWD exec sh x\n${below}` });
  });

  test('an unknown option of a share is part of its path', async () => {
    assert.match(await tart(`run base --dir x:${folder}:rw`), /^1 .*directory sharing device configuration is invalid/);
  });
});
