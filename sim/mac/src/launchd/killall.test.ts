import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { forever, type LaunchdMachine, launchdMachine } from '../testing/launchd-machine.ts';
import { resultText, toolCall } from '../testing/minimal-machine.ts';

describe('killall', () => {
  let mac: LaunchdMachine;

  beforeEach(async () => {
    mac = await launchdMachine();
  });

  afterEach(() => mac.stop());

  const killall = async (...args: string[]): Promise<string> => resultText(await mac.tool('killall', ...args));
  const nobody = '1 No matching processes were found';

  test('-HUP ends loginwindow, and finds no process the next time (INC-08)', async () => {
    assert.equal(await killall('-HUP', 'loginwindow'), '0');
    assert.equal(await killall('-HUP', 'loginwindow'), nobody);
    assert.equal(await killall('loginwindow'), nobody);
  });

  test('makes launchd restart loginwindow where kickstart is forbidden', async () => {
    mac.machine.faults.loginwindow = 'forbidden';
    assert.equal((await mac.launchctl('kickstart', '-k', 'system/com.apple.loginwindow')).code, 1);
    assert.equal(await killall('loginwindow'), '0');
    assert.equal(mac.machine.journalOf('loginwindow.respawn').length, 1);
  });

  test('reaches a job by the name of its program', async () => {
    mac.program('/opt/job', forever);
    await mac.launchctl('bootstrap', 'system', mac.daemon('job'));
    assert.equal(await killall('-9', 'job'), '0');
    await mac.machine.waitForJournal('launchd.exit');
    assert.equal(mac.launchd.job('job')?.lastExit, 'Killed: 9');
    assert.equal(await killall('job'), nobody);
  });

  test('of WindowServer ends the session', async () => {
    mac.logIn();
    assert.equal(await killall('WindowServer'), '0');
    assert.equal(mac.console.session(), 'none');
  });

  test('finds daemons of macOS, and no other process', async () => {
    assert.equal(await killall('-HUP', 'mDNSResponder'), '0');
    assert.equal(await killall('nothing'), nobody);
    assert.equal(await killall('-HUP'), '1 usage: killall [-SIGNAL] name ...');
  });

  test('does nothing for the user, who does not own these processes', async () => {
    const answer = await mac.launchd.tools['killall']?.(toolCall('killall', ['loginwindow'], { asRoot: false }));
    assert.equal(answer && resultText(answer), '1 No matching processes belonging to you were found');
    assert.equal(mac.console.loginwindow.runs(), 1);
  });
});
