import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Mac } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import { cutEverywhere } from '../testing/crash-injection.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { footprint } from '../testing/footprint.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { runStep } from '../testing/run-step.ts';
import { power } from './preparation.ts';

const wanted: Readonly<Record<string, string>> = {
  'com.apple.screensaver idleTime': '0',
  'com.apple.screensaver askForPassword': '0',
  '.GlobalPreferences com.apple.autologout.AutoLogOutDelay': '0',
  'com.apple.SoftwareUpdate AutomaticCheckEnabled': '1',
  'com.apple.SoftwareUpdate ConfigDataInstall': '1',
  'com.apple.SoftwareUpdate AutomaticDownload': '0',
  'com.apple.SoftwareUpdate AutomaticallyInstallMacOSUpdates': '0',
  'com.apple.SoftwareUpdate CriticalUpdateInstall': '0',
  'com.apple.SoftwareUpdate SplatEnabled': '0',
};

describe('power', { concurrency: 2 }, () => {
  let macs: FreshMacs;
  let spec: HostSpec;
  before(() => {
    macs = freshMacs();
    spec = exampleSpec(macs.folder);
  });
  after(() => macs.stopAll());

  const powerTable = async (mac: Mac): Promise<Record<string, string>> => {
    const { stdout } = await mac.run('pmset -g custom');
    return Object.fromEntries([...stdout.matchAll(/^ (\w+) +(\d+)/gm)].map(([, key = '', value = '']) => [key, value]));
  };
  const preferences = async (mac: Mac): Promise<Record<string, string>> => {
    const names = Object.keys(wanted);
    const { stdout } = await mac.run(names.map((name) => `defaults read /Library/Preferences/${name}`).join('; '), {
      asRoot: true,
    });
    return Object.fromEntries(
      stdout
        .trimEnd()
        .split('\n')
        .map((value, index) => [names[index] ?? '', value]),
    );
  };
  const asWanted = async (mac: Mac): Promise<void> => {
    const { sleep, displaysleep, disksleep, autorestart } = await powerTable(mac);
    assert.deepEqual(
      { sleep, displaysleep, disksleep, autorestart },
      { sleep: '0', displaysleep: '0', disksleep: '0', autorestart: '1' },
    );
    assert.deepEqual(await preferences(mac), wanted);
  };

  test('a fresh Mac no longer sleeps, locks, logs out or updates by itself (INC-06)', async () => {
    const mac = await macs.start();
    const answer = await runStep(mac, power, spec);
    assert.deepEqual([answer.result, answer.stderr], ['applied', '']);
    await asWanted(mac);
  });

  test('the settings survive a reboot', async () => {
    const mac = await macs.start();
    await runStep(mac, power, spec);
    await mac.reboot();
    assert.equal((await runStep(mac, power, spec, { verb: 'check' })).result, 'unchanged');
  });

  test('a second run changes nothing', async () => {
    const mac = await macs.start();
    await runStep(mac, power, spec);
    const before = footprint(mac);
    assert.equal((await runStep(mac, power, spec)).result, 'unchanged');
    assert.deepEqual(footprint(mac), before);
  });

  test('only different settings are written', async () => {
    const mac = await macs.start();
    await runStep(mac, power, spec);
    await mac.run(
      'pmset -a sleep 10; defaults write /Library/Preferences/com.apple.SoftwareUpdate SplatEnabled -bool true',
      {
        asRoot: true,
      },
    );
    const before = mac.journal.entries.length;
    const answer = await runStep(mac, power, spec);
    assert.equal(answer.result, 'applied');
    assert.deepEqual(answer.differences, ['pmset: sleep is not 0', 'com.apple.SoftwareUpdate: SplatEnabled is not 0']);
    const set = mac.journal.entries.slice(before).filter(({ what }) => what === 'pmset');
    assert.deepEqual(
      set.map(({ detail }) => detail),
      ['sleep 0'],
    );
    await asWanted(mac);
  });

  test('a check names what differs and changes nothing', async () => {
    const mac = await macs.start();
    const before = footprint(mac);
    const answer = await runStep(mac, power, spec, { verb: 'check' });
    assert.equal(answer.result, 'different');
    assert.ok(answer.differences.includes('pmset: sleep is not 0'));
    assert.deepEqual(footprint(mac), before);
  });

  test('after any interruption, a second run completes the step', async () => {
    const mac = await macs.start();
    const cuts = await cutEverywhere(power, {
      spec,
      prepare: async () => {
        await mac.run('rm -f "$TARTAN_ROOT"/Library/Preferences/*.plist "$TARTAN_ROOT"/Library/Preferences/.*.plist', {
          asRoot: true,
        });
        return mac;
      },
      check: async () => {
        assert.match((await runStep(mac, power, spec)).result ?? '', /applied|unchanged/);
        await asWanted(mac);
      },
    });
    assert.ok(cuts >= 13, String(cuts));
  });

  test('a full disk is an error, and the next run succeeds', async () => {
    const mac = await macs.start();
    mac.faults.diskFree = 0;
    assert.notEqual((await runStep(mac, power, spec)).code, 0);
    mac.faults.diskFree = undefined;
    assert.equal((await runStep(mac, power, spec)).result, 'applied');
    await asWanted(mac);
  });
});
