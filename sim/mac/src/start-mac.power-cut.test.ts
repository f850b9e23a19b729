import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import type { Mac } from './mac.ts';
import { startMac } from './start-mac.ts';
import { isAlive } from './testing/launchd-machine.ts';
import { startMacProcess } from './testing/mac-process.ts';
import { logIn, newKey, type SshClient } from './testing/ssh-client.ts';
import { startTestMac } from './testing/test-mac.ts';
import { plistText } from './tools/plist-file.ts';

const label = 'dev.tuist.job';
const plist = plistText({ Label: label, ProgramArguments: ['/opt/job'], RunAtLoad: true });
const off = plistText({ Label: 'dev.tuist.off', ProgramArguments: ['/opt/job'], RunAtLoad: true });

/** Run over SSH. The job appends its pid at each start, and keeps running. */
const prepare = `
set -eu
printf 'm1 ALL=(ALL) NOPASSWD: ALL\\n' >"$TARTAN_ROOT"/etc/sudoers.d/m1
chmod 440 "$TARTAN_ROOT"/etc/sudoers.d/m1
mkdir -p "$TARTAN_ROOT"/opt
printf '#!/bin/sh\\necho $$ >>"$TARTAN_ROOT"/var/log/job.pids\\nexec /bin/sleep 600\\n' >"$TARTAN_ROOT"/opt/job
chmod 755 "$TARTAN_ROOT"/opt/job
printf %s '${plist}' >"$TARTAN_ROOT"/Library/LaunchDaemons/${label}.plist
printf %s '${off}' >"$TARTAN_ROOT"/Library/LaunchDaemons/dev.tuist.off.plist
sudo -n launchctl disable system/dev.tuist.off
sudo -n launchctl bootstrap system "$TARTAN_ROOT"/Library/LaunchDaemons/${label}.plist
touch f g
sudo -n chown root:wheel f
: >"$TARTAN_ROOT"/var/run/left.socket
mkdir -p .tart/vms/guest
echo $$ >.tart/vms/guest/.pid
until [ -s "$TARTAN_ROOT"/var/log/job.pids ]; do sleep 1; done
/bin/sleep 600 >/dev/null 2>&1 &
echo $!
`;

describe('a Mac whose simulator process was killed', () => {
  const key = newKey();
  let folder: string;
  let leftBehind: number;
  let again: Mac;
  let client: SshClient;
  let lastLife: { readonly port: number; readonly fingerprint: string; readonly userland: string };
  const jobs = (): number[] =>
    readFileSync(join(folder, 'root/var/log/job.pids'), 'utf8').trim().split('\n').map(Number);

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-mac-'));
    const first = await startMacProcess({ folder, authorizedKeys: [key.public], user: { password: 'its own' } });
    try {
      const connection = await logIn(first, key);
      const { code, stdout, stderr } = await connection.run(prepare);
      assert.equal(code, 0, stderr);
      leftBehind = Number(stdout);
      const { stdout: userland } = await connection.run('cd -P "$TARTAN_ROOT/usr/bin/.." && pwd -P');
      await connection.end();
      lastLife = { port: first.address.port, fingerprint: first.fingerprint, userland: userland.trim() };
      await assert.rejects(
        startMac({ folder }),
        /is on already, in process \d+\. Stop it there, or choose another folder/,
      );
      assert.ok(isAlive(leftBehind));
    } finally {
      await first.kill();
    }
    assert.deepEqual([...jobs(), leftBehind].map(isAlive), [true, true], 'a killed simulator ends nobody');
    again = await startMac({ folder, port: lastLife.port });
    client = await logIn(again, key);
  });
  after(async () => {
    await client.end();
    await again.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('keeps its host key, authorized keys and password', async () => {
    assert.equal(client.hostKey, lastLife.fingerprint);
    assert.equal(again.address.port, lastLife.port);
    assert.equal(again.user.password, 'its own');
    await again.run('rm "$TARTAN_ROOT"/etc/sudoers.d/m1');
    assert.equal((await client.run('echo "its own" | sudo -S true')).code, 0);
    assert.equal((await client.run('echo other | sudo -S true')).code, 1);
  });

  test('starts each enabled job once, and no process of the previous run is left', async () => {
    await eventually('a job has started', () => jobs().length > 1);
    const [old, now, ...more] = jobs();
    assert.deepEqual([isAlive(old), isAlive(now), isAlive(leftBehind), more], [false, true, false, []]);
    assert.deepEqual([again.job(label)?.pid, again.job(label)?.runs], [now, 1]);
    assert.equal(again.job('dev.tuist.off'), undefined);
  });

  test('keeps the owners of its files', async () => {
    assert.equal((await client.run("stat -f '%Su:%Sg' f g")).stdout, 'root:wheel\nm1:staff\n');
  });

  test('has no running virtual machine', () => {
    assert.deepEqual(readdirSync(again.path('/Users/m1/.tart/vms/guest')), []);
  });

  test('has an empty /var/run, and leaves nothing in the temporary folder', () => {
    assert.deepEqual(readdirSync(again.path('/var/run')), []);
    assert.match(lastLife.userland, /tartan-mac-userland-/);
    assert.ok(!existsSync(lastLife.userland));
  });
});

describe('a Mac that was killed in the middle of a reinstall', () => {
  test('is installed again at the next start, with the last settings', async (t) => {
    const key = newKey();
    const first = await startTestMac(t, { authorizedKeys: [key.public], user: { password: 'first' } });
    const folder = join(first.root, '..');
    await first.run('echo old >f');
    const hostKey = first.hostKey();
    await first.stop();
    renameSync(first.root, `${first.root}.old`);
    mkdirSync(`${first.root}.new`);
    const again = await startMac({ folder });
    try {
      assert.notEqual(again.hostKey(), hostKey);
      assert.equal(again.user.password, 'first');
      assert.notEqual((await again.run('cat f')).code, 0);
      assert.deepEqual(readdirSync(folder).sort(), ['.mac', 'root']);
      const client = await logIn(again, key);
      await client.end();
    } finally {
      await again.stop();
    }
  });
});

describe('the power of a Mac', () => {
  test('is cut: nothing runs or listens until it is on again, with its disk unchanged', async (t) => {
    const key = newKey();
    const mac = await startTestMac(t, { authorizedKeys: [key.public] });
    const { stdout } = await mac.run('echo kept >f; /bin/sleep 600 >/dev/null 2>&1 & echo $!');
    const client = await logIn(mac, key);
    await mac.powerOff();
    await client.closed;
    assert.deepEqual([mac.isOn(), isAlive(Number(stdout))], [false, false]);
    await assert.rejects(logIn(mac, key), /ECONNREFUSED/);
    await assert.rejects(mac.run('true'), /this Mac is down/);
    await assert.rejects(mac.reboot(), /this Mac is off and cannot restart: switch it on with powerOn\(\)/);
    await mac.powerOff();
    await mac.powerOn();
    await mac.powerOn();
    assert.equal((await mac.run('cat f')).stdout, 'kept\n');
    await (await logIn(mac, key)).end();
    assert.equal(mac.journal.entries.filter(({ what }) => what === 'boot').length, 2);
  });

  test('is switched on by a reinstall', async (t) => {
    const mac = await startTestMac(t);
    await mac.powerOff();
    await mac.reinstall({ password: 'new' });
    assert.deepEqual([mac.isOn(), mac.user.password, (await mac.run('echo up')).stdout], [true, 'new', 'up\n']);
  });
});
