import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import type { Subsystem, ToolResult } from '../machine.ts';
import { type MinimalMachine, minimalMachine, resultText, toolCall } from '../testing/minimal-machine.ts';
import { createTools } from './create-tools.ts';

type Row = readonly [line: string, expected: string];

describe('tools of macOS', () => {
  let machine: MinimalMachine;
  let tools: Subsystem['tools'];
  beforeEach(() => {
    machine = minimalMachine({ clock: manualClock(1_700_000_000_000) });
    tools = createTools(machine).tools;
  });
  afterEach(() => machine.remove());

  const call = async (line: string, options: { asRoot?: boolean; stdin?: string } = {}): Promise<ToolResult> => {
    const [name = '', ...args] = line.split(' ');
    const tool = tools[name] ?? assert.fail(`no tool ${name}`);
    return tool({ ...toolCall(name, args, options), stdin: Buffer.from(options.stdin ?? '') });
  };
  const inOrder = async (rows: readonly Row[], options?: { asRoot: boolean }): Promise<void> => {
    for (const [line, expected] of rows) assert.equal(resultText(await call(line, options)), expected, line);
  };

  test('scutil sets the names of the Mac', async () => {
    await inOrder([
      ['scutil --get HostName', '1 HostName: not set'],
      ['scutil --get LocalHostName', '0 Mac-mini'],
      ['hostname', '0 Mac-mini.local'],
      ['scutil --set HostName mac-7.fleet_a', '0'],
      ['scutil --get HostName', '0 mac-7.fleet_a'],
      ['hostname -s', '0 mac-7'],
      ['scutil --set LocalHostName mac-7.fleet', '1 SCPreferencesSetLocalHostName() failed: Invalid argument'],
      ['scutil --set LocalHostName mac_7', '1 SCPreferencesSetLocalHostName() failed: Invalid argument'],
      [`scutil --set LocalHostName ${'a'.repeat(64)}`, '1 SCPreferencesSetLocalHostName() failed: Invalid argument'],
      ['scutil --set LocalHostName mac-7', '0'],
      ['scutil --get LocalHostName', '0 mac-7'],
      ['scutil --get ComputerName', '0 Mac mini'],
    ]);
    await inOrder([['scutil --set HostName x', '1 SCPreferencesCommitChanges() failed: Permission denied']], {
      asRoot: false,
    });
  });

  test('pmset: by default a mini sleeps after a minute', async () => {
    const sleeps = async (): Promise<string | undefined> =>
      /^ sleep +(\d+)$/m.exec((await call('pmset -g')).stdout ?? '')?.[1];
    assert.equal(await sleeps(), '1');
    await inOrder([['pmset -a sleep 0 displaysleep 0 disksleep 0', '0']]);
    assert.equal(await sleeps(), '0');
    assert.match((await call('pmset -g custom')).stdout ?? '', /^AC Power:\n[\s\S]* disksleep +0\n/);
    await inOrder([['pmset -b sleep 5', '0']]);
    assert.equal(await sleeps(), '0', 'a mini has no battery');
    for (const bad of ['pmset -a nap 1', 'pmset -a sleep', 'pmset -a sleep soon', 'pmset -a'])
      assert.equal((await call(bad)).code, 64, bad);
    assert.equal((await call('pmset -a sleep 9', { asRoot: false })).code, 77);
    assert.deepEqual(machine.journalOf('pmset'), ['sleep 0 displaysleep 0 disksleep 0']);
  });

  test('sysctl and sw_vers describe an M4 mini', async () => {
    await inOrder([
      ['sysctl -n kern.boottime', '0 { sec = 1700000000, usec = 0 } Tue Nov 14 22:13:20 2023'],
      ['sysctl hw.memsize', '0 hw.memsize: 17179869184'],
      ['sysctl -n hw.ncpu machdep.cpu.brand_string', '0 10 / Apple M4'],
      ['sysctl -n kern.osproductversion', '0 26.0'],
      ['sysctl -n kern.memorystatus_vm_pressure_level kern.maxproc', '0 1 / 4000'],
      ['sysctl -n kern.nothing', "1 sysctl: unknown oid 'kern.nothing'"],
      ['sw_vers -productVersion', '0 26.0'],
      ['sw_vers --buildVersion', '0 25A354'],
    ]);
    const { stdout: found } = await call('ioreg -rd1 -c IOPlatformExpertDevice');
    assert.match(found ?? '', /^ +"IOPlatformUUID" = "[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}"$/m);
  });

  test('dscl finds the user', async () => {
    await inOrder([
      ['dscl . -read /Users/m1 UniqueID', '0 UniqueID: 501'],
      ['dscl . -read /Users/m1 UserShell', '0 UserShell: /bin/zsh'],
      ['dscl . -read /Users/nobody-here', '56 <dscl_cmd> DS Error: -14136 (eDSRecordNotFound)'],
      ['dscacheutil -flushcache', '0'],
      ['dscacheutil -q user -a name nobody-here', '0'],
    ]);
    assert.match((await call('dscacheutil -q user -a name m1')).stdout ?? '', /^uid: 501$/m);
    assert.deepEqual(machine.journalOf('dns.flush'), ['root']);
  });

  test('nc probes loopback', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const line = `nc -z -G 3 127.0.0.1 ${address.port}`;
    assert.equal((await call(line)).code, 0);
    await new Promise((resolve) => server.close(resolve));
    assert.equal((await call(line)).code, 1);
    assert.equal((await call('nc -z -G 3 127.0.0.1 22')).code, 0);
    machine.faults.ssh = 'hang before the banner';
    assert.equal((await call('nc -z -G 3 127.0.0.1 22')).code, 0, 'it accepts, and says nothing');
    machine.faults.ssh = 'refuse';
    assert.equal((await call('nc -z -G 3 127.0.0.1 22')).code, 1);
    assert.equal((await call('nc -z -G 3 203.0.113.9 22')).code, 1);
  });

  test('plutil lints, extracts and converts property lists', async () => {
    const plist =
      '<plist version="1.0"><dict><key>Label</key><string>a &amp; b</string><key>On</key><true/><key>Args</key><array><string>x</string></array></dict></plist>';
    machine.write('/tmp/good.plist', plist);
    machine.write('/tmp/bad.plist', '<plist version="1.0"><dict><key>Url</key><string>a & b</string></dict></plist>');
    await inOrder([
      ['plutil -lint /tmp/good.plist', '0 /tmp/good.plist: OK'],
      ['plutil -extract Label raw -o - /tmp/good.plist', '0 a & b'],
      ['plutil -extract On raw /tmp/good.plist', '0 true'],
      ['plutil -extract Args.0 raw /tmp/good.plist', '0 x'],
      ['plutil -extract Args raw /tmp/good.plist', '0 1'],
      ['plutil -convert json -o - /tmp/good.plist', '0 {"Label":"a & b","On":true,"Args":["x"]}'],
    ]);
    assert.equal((await call('plutil -lint /tmp/bad.plist')).code, 1);
    assert.equal((await call('plutil -lint /tmp/missing.plist')).code, 1);
    assert.equal((await call('plutil -extract Nothing raw /tmp/good.plist')).code, 1);
    assert.equal((await call('plutil -extract Label raw -o - -', { stdin: plist })).stdout, 'a & b\n');
  });

  test('newsyslog checks a file, and rotates by renaming', async () => {
    machine.write(
      '/etc/newsyslog.d/a.conf',
      '# log owner mode count size when flags\n/var/log/a.log m1:staff 644 2 10240 * N\n',
    );
    machine.write('/etc/newsyslog.d/b.conf', '/var/log/b.log 644 5\n');
    machine.write('/etc/newsyslog.d/c.conf', '/var/log/c.log rw-r--r-- 5 100 * J\n');
    machine.write('/var/log/a.log', 'old\n');
    assert.equal((await call('newsyslog -nvf /etc/newsyslog.d/a.conf', { asRoot: false })).code, 0);
    assert.match(
      resultText(await call('newsyslog -nf /etc/newsyslog.d/b.conf')),
      /^1 newsyslog: malformed line \(missing fields\)/,
    );
    assert.match(
      resultText(await call('newsyslog -nf /etc/newsyslog.d/c.conf')),
      /^1 newsyslog: error in config file; bad permissions/,
    );
    assert.equal(readFileSync(machine.path('/var/log/a.log'), 'utf8'), 'old\n');
    await inOrder([['newsyslog -F -f /etc/newsyslog.d/a.conf', '0']]);
    assert.equal(readFileSync(machine.path('/var/log/a.log'), 'utf8'), '');
    assert.equal(readFileSync(machine.path('/var/log/a.log.0'), 'utf8'), 'old\n');
    await inOrder([
      ['newsyslog -F -f /etc/newsyslog.d/a.conf', '0'],
      ['newsyslog -F -f /etc/newsyslog.d/a.conf', '0'],
    ]);
    assert.equal(existsSync(machine.path('/var/log/a.log.2')), false, 'as many as it says');
  });

  test('the minimal tools answer their one question', async () => {
    await inOrder([
      ['fdesetup status', '0 FileVault is Off.'],
      ['csrutil status', '0 System Integrity Protection status: enabled.'],
      ['systemsetup -getremotelogin', '0 Remote Login: On'],
      ['logger -t tartan all is well', '0'],
      ['networksetup -listVLANs', '1 networksetup: this Mac does not play it yet'],
      ['diskutil info /', '1 diskutil: this Mac does not play it yet'],
    ]);
    assert.match(resultText(await call('softwareupdate --list')), /^0 .*No new software available\.$/);
    assert.deepEqual(machine.journalOf('log'), ['all is well']);
  });

  test('python3 only asks for the developer tools, and fails', async () => {
    assert.match(resultText(await call('python3 -c pass')), /^1 xcode-select: note: No developer tools were found/);
    assert.equal((await call('xcode-select -p')).code, 2);
  });

  test('settings are stored on the disk: another Mac with the same disk has them too', async () => {
    await call('scutil --set HostName kept');
    await call('pmset -a sleep 0');
    await call('defaults write /Library/Preferences/com.example Answer -int 42');
    tools = createTools(machine).tools;
    await inOrder([
      ['scutil --get HostName', '0 kept'],
      ['defaults read /Library/Preferences/com.example Answer', '0 42'],
    ]);
    assert.match((await call('pmset -g')).stdout ?? '', /^ sleep +0$/m);
  });

  test('on a full disk they fail, and the old files are kept', async () => {
    await call('scutil --set HostName before');
    await call('defaults write /Library/Preferences/com.example Key before');
    machine.faults.diskFree = 10;
    assert.notEqual((await call('scutil --set HostName after')).code, 0);
    assert.notEqual((await call('defaults write /Library/Preferences/com.example Key after')).code, 0);
    assert.notEqual((await call('pmset -a sleep 0')).code, 0);
    await inOrder([
      ['scutil --get HostName', '0 before'],
      ['defaults read /Library/Preferences/com.example Key', '0 before'],
    ]);
  });
});
