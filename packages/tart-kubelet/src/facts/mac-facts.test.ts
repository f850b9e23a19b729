import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { exampleFacts, fakeHostFacts } from '../node/testing/fixtures.ts';
import { createMacFacts, firstAddress } from './mac-facts.ts';
import { type RunCommand, runCommand } from './run-command.ts';

const { signal } = new AbortController();
const options = { nodeIP: undefined, nodeIPSource: 'auto' } as const;

const answers: Readonly<Record<string, string>> = {
  'sw_vers -productVersion': '26.1',
  'sw_vers -buildVersion': '25B78',
  'sysctl -n kern.bootsessionuuid': 'BOOT-1',
  'ioreg -rd1 -c IOPlatformExpertDevice': '{\n  "IOPlatformUUID" = "HARD-1"\n}',
  'sysctl -n kern.memorystatus_vm_pressure_level': '4',
  'sysctl -n kern.maxproc': '4000',
  'ps -axo pid=': '  1\n 22\n333',
  'sudo -n launchctl print gui/501': 'gui/501 = {\n\tsession = Aqua\n}',
  '/usr/local/bin/tailscale ip -4': '100.64.0.7\n',
};

const onMac = (changes: Readonly<Record<string, string | Error>> = {}) => {
  const asked: string[] = [];
  const run: RunCommand = async (command, args) => {
    const line = [command, ...args].join(' ');
    asked.push(line);
    const answer = changes[line] ?? answers[line] ?? new Error(`no ${line}`);
    if (typeof answer !== 'string') throw answer;
    return answer;
  };
  const clock = manualClock();
  const tart = fakeHostFacts(exampleFacts);
  const make = (change: Partial<Parameters<typeof createMacFacts>[0]['options']> = {}) =>
    createMacFacts({ options: { ...options, ...change }, root: '', uid: 501, tart, clock, run });
  return { asked, clock, make };
};

const exited = (code: number): Error => Object.assign(new Error('exited'), { code });

describe('the facts of a real Mac', () => {
  test('system info, read once an hour', async () => {
    const { asked, clock, make } = onMac();
    const facts = make();
    const info = await facts.system(signal);
    assert.deepEqual(
      { ...info, kernelVersion: '' },
      {
        osImage: 'macOS 26.1 (25B78)',
        kernelVersion: '',
        machineID: 'HARD-1',
        systemUUID: 'HARD-1',
        bootID: 'BOOT-1',
      },
    );
    const before = asked.length;
    await facts.system(signal);
    assert.equal(asked.length, before);
    clock.advance(3_600_000);
    await facts.system(signal);
    assert.ok(asked.length > before);
  });

  test('missing system info is empty', async () => {
    const { make } = onMac({ 'ioreg -rd1 -c IOPlatformExpertDevice': new Error('no ioreg') });
    assert.equal((await make().system(signal)).machineID, '');
  });

  test('memory, processes and disk', async () => {
    const facts = onMac().make();
    assert.equal(await facts.memory(signal), 'critical');
    assert.deepEqual(await facts.processes(signal), { running: 3, limit: 4000 });
    const { freeBytes, totalBytes } = await facts.disk(signal);
    assert.ok(totalBytes > 0 && freeBytes >= 0 && freeBytes <= totalBytes);
  });

  test('the GUI session is present, absent or unknown', async () => {
    const line = 'sudo -n launchctl print gui/501';
    assert.equal(await onMac().make().guiSession(signal), true);
    assert.equal(
      await onMac({ [line]: exited(113) })
        .make()
        .guiSession(signal),
      false,
    );
    await assert.rejects(
      onMac({ [line]: new Error('killed') })
        .make()
        .guiSession(signal),
    );
  });

  test('the DHCP lease time is as configured, or a day (INC-428)', async () => {
    const line =
      'defaults read /Library/Preferences/SystemConfiguration/com.apple.InternetSharing.default.plist bootpd';
    const leaseTimeFor = (answer: string | Error) =>
      onMac({ [line]: answer })
        .make()
        .dhcpLeaseSeconds(signal);
    assert.equal(await leaseTimeFor('{\n    DHCPLeaseTimeSecs = 600;\n}'), 600);
    assert.equal(await leaseTimeFor(exited(1)), 86_400);
    assert.equal(await leaseTimeFor('{\n}'), 86_400);
    await assert.rejects(leaseTimeFor(new Error('killed')));
  });

  test('the address is --node-ip, or the tailnet address only, or the first address of an interface', async () => {
    assert.equal(await onMac().make({ nodeIP: '10.1.1.1' }).address(signal), '10.1.1.1');
    assert.equal(await onMac().make({ nodeIPSource: 'tailscale' }).address(signal), '100.64.0.7');
    const away = onMac({ '/usr/local/bin/tailscale ip -4': '' }).make({ nodeIPSource: 'tailscale' });
    await assert.rejects(away.address(signal), /tailscale has no IPv4 address/);
    const of = (address: string, family: 'IPv4' | 'IPv6' = 'IPv4', internal = false) => ({ address, family, internal });
    const interfaces = {
      lo0: [of('127.0.0.1', 'IPv4', true)],
      bridge100: [of('192.168.64.1')],
      vmnet1: [of('192.168.65.1')],
      en0: [of('fe80::1', 'IPv6'), of('169.254.1.1'), of('51.1.2.3')],
      en1: [of('51.1.2.4')],
    };
    assert.equal(firstAddress(interfaces), '51.1.2.3');
    assert.equal(firstAddress({ bridge100: interfaces.bridge100 }), undefined);
  });

  test('a command that hangs or is missing fails', async () => {
    await assert.rejects(runCommand('/nowhere/at/all', [], signal));
    const ended = new AbortController();
    const running = runCommand('sh', ['-c', 'cat; exec sleep 60'], ended.signal);
    ended.abort();
    await assert.rejects(running);
    assert.equal(await runCommand('sh', ['-c', 'echo " a "'], signal), 'a');
  });
});
