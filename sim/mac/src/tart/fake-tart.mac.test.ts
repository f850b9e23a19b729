import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Mac } from '../mac.ts';
import { standInSoftware } from '../software/stand-in-software.ts';
import { startMac } from '../start-mac.ts';

describe('tart on a simulated Mac', () => {
  let folder: string;
  let mac: Mac;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-tart-on-a-mac-'));
    const software = await standInSoftware(join(folder, 'software'));
    mac = await startMac({ folder: join(folder, 'mac'), pace: 0.001, user: { password: 'the true one' } });
    mkdirSync(mac.path('/usr/local'), { recursive: true });
    execFileSync('tar', ['-xzf', software.tart.file, '-C', mac.path('/usr/local')]);
  });
  after(async () => {
    await mac.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (command: string): Promise<string> => {
    const { code, stdout, stderr } = await mac.run(
      `PATH="$TARTAN_ROOT/usr/local/tart.app/Contents/MacOS:$PATH"; ${command}`,
    );
    return `${code ?? 'killed'} ${stdout}${stderr}`.trimEnd();
  };

  /** The state after the step `auto-login`. */
  const logIn = async (): Promise<void> => {
    writeFileSync(mac.path('/etc/kcpassword'), 'CeE3A6bOqI+D1nEYiVIj0rzd6qO5Hw==', 'base64');
    await mac.run('defaults write /Library/Preferences/com.apple.loginwindow autoLoginUser m1', { asRoot: true });
    await mac.run('killall loginwindow', { asRoot: true });
    await run('until [ "$(stat -f %Su "$TARTAN_ROOT/dev/console")" = m1 ]; do sleep 1; done');
    assert.equal(mac.guiSession(), 'Aqua');
  };

  test('needs a console session, starts a VM, and ends with the Mac', async () => {
    assert.match(await run('tart clone ghcr.io/a/b:1 vm && tart list -q --source local'), /^0 [\s\S]*\nvm$/);
    assert.equal(mac.guiSession(), 'none');
    assert.match(await run('tart run vm'), /^1 Error Domain=VZErrorDomain Code=-9/);
    await logIn();
    // In its own session, as the agent starts it.
    const vm = spawn(mac.path('/usr/local/tart.app/Contents/MacOS/tart'), ['run', 'vm', '--no-graphics'], {
      env: { TARTAN_ROOT: mac.root, PATH: `${mac.path('/usr/bin')}:${mac.path('/bin')}`, HOME: mac.path('/Users/m1') },
      detached: true,
      stdio: 'ignore',
    });
    const exit = once(vm, 'exit');
    assert.match(
      await run('until tart exec vm true 2>/dev/null; do sleep 1; done; tart ip vm'),
      /^0 192\.168\.64\.\d+$/,
    );
    assert.equal(mac.packetFilter.enabled, true);
    assert.match(
      readFileSync(mac.path('/var/db/dhcpd_leases'), 'utf8'),
      /\n\tip_address=192\.168\.64\.\d+\n\thw_address=1,7e:/,
    );
    await mac.reboot();
    assert.deepEqual(await exit, [null, 'SIGKILL']);
    assert.match(await run('tart get vm'), /stopped/);
  });
});
