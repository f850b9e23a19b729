import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Mac } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { runStep } from '../testing/run-step.ts';
import { guestLeases } from './guest-network.ts';

const domain = '/Library/Preferences/SystemConfiguration/com.apple.InternetSharing.default';

describe('guest-leases', { concurrency: 2 }, () => {
  let macs: FreshMacs;
  let spec: HostSpec;
  before(() => {
    macs = freshMacs();
    spec = exampleSpec(macs.folder);
  });
  after(() => macs.stopAll());

  const leases = async (mac: Mac): Promise<string> => {
    const { stdout } = await mac.run(`defaults read ${domain} bootpd`, { asRoot: true });
    return stdout.replaceAll(/\s+/g, ' ').trim();
  };

  test('DHCP leases on a fresh Mac last ten minutes, not a day (INC-428)', async () => {
    const mac = await macs.start();
    const answer = await runStep(mac, guestLeases, spec);
    assert.deepEqual([answer.result, answer.stderr], ['applied', '']);
    assert.equal(await leases(mac), '{ DHCPLeaseTimeSecs = 600; }');
    assert.equal((await runStep(mac, guestLeases, spec)).result, 'unchanged');
  });

  test('another lease time is corrected, and other settings are kept', async () => {
    const mac = await macs.start();
    await mac.run(`defaults write ${domain} bootpd -dict DHCPLeaseTimeSecs -int 86400 other 1`, { asRoot: true });
    assert.equal((await runStep(mac, guestLeases, spec)).result, 'applied');
    assert.match(await leases(mac), /DHCPLeaseTimeSecs = 600;.* other = 1;/);
  });
});
