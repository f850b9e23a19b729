import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { allowSudo, journalDetails, startTestMac } from '../testing/test-mac.ts';
import { plistText } from '../tools/plist-file.ts';

const label = 'dev.tuist.job';
const plist = plistText({
  Label: label,
  ProgramArguments: ['/usr/local/bin/job', '--who=<me>'],
  UserName: 'm1',
  RunAtLoad: true,
  KeepAlive: true,
  StandardOutPath: '/var/log/job.log',
});

const install = `
set -eu
mkdir -p "$TARTAN_ROOT"/usr/local/bin
printf '#!/bin/sh\\necho "$(id -un) $HOME $*"\\nexec sleep 3600\\n' >"$TARTAN_ROOT"/usr/local/bin/job
chmod 755 "$TARTAN_ROOT"/usr/local/bin/job
cat >"$TARTAN_ROOT"/Library/LaunchDaemons/${label}.plist
touch "$TARTAN_ROOT"/var/log/job.log
chown m1:staff "$TARTAN_ROOT"/var/log/job.log
launchctl bootstrap system "$TARTAN_ROOT"/Library/LaunchDaemons/${label}.plist
until [ -s "$TARTAN_ROOT"/var/log/job.log ]; do sleep 1; done
`;

describe('launchd on a whole simulated Mac', () => {
  test('runs a job as its user, through a reload with its drain window and a reboot', async (t) => {
    let heldAt: number | undefined;
    const clock: Clock = { ...systemClock, monotonic: () => heldAt ?? systemClock.monotonic() };
    const mac = await startTestMac(t, { clock });
    const installed = await mac.run(install, { stdin: plist, asRoot: true });
    assert.equal(installed.code, 0, installed.stderr);
    const { stdout } = await mac.run('cat "$TARTAN_ROOT"/var/log/job.log');
    assert.equal(stdout, `m1 ${mac.path('/Users/m1')} --who=<me>\n`);
    const before = mac.job(label)?.pid;

    const bootstrap = `launchctl bootstrap system /Library/LaunchDaemons/${label}.plist`;
    heldAt = clock.monotonic();
    const early = await mac.run(`launchctl bootout system/${label} || true; ${bootstrap}`, { asRoot: true });
    assert.match(early.stderr, /Bootstrap failed: 5: Input\/output error/);
    heldAt = undefined;
    const reload = await mac.run(`until ${bootstrap}; do sleep 1; done`, { asRoot: true });
    assert.equal(reload.code, 0);
    assert.equal(mac.job(label)?.state, 'running');
    assert.notEqual(mac.job(label)?.pid, before);

    await mac.reboot();
    assert.equal(mac.job(label)?.state, 'running');
    assert.equal(journalDetails(mac, 'launchd.bootstrap').length, 2);
  });

  test('logs the user in after a restart of loginwindow, until a reboot', async (t) => {
    const mac = await startTestMac(t, { user: { password: 'hello' } });
    await allowSudo(mac);
    const { code, stderr } = await mac.run(`
printf '\\025\\354>O\\275\\274\\335\\352\\243\\271\\037' | sudo -n tee "$TARTAN_ROOT"/etc/kcpassword >/dev/null
sudo -n defaults write /Library/Preferences/com.apple.loginwindow autoLoginUser m1
sudo -n killall loginwindow
until sudo -n launchctl print gui/501 | grep -q 'session = Aqua'; do sleep 1; done`);
    assert.equal(code, 0, stderr);
    assert.equal(mac.guiSession(), 'Aqua');
    await mac.reboot();
    assert.equal(mac.guiSession(), 'none');
  });
});
