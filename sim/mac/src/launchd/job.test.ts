import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { forever, isAlive, type LaunchdMachine, launchdMachine } from '../testing/launchd-machine.ts';
import { plistText } from '../tools/plist-file.ts';

const label = 'dev.tuist.job';
const log = '/var/log/job.log';

describe('a job of launchd', () => {
  let mac: LaunchdMachine;

  beforeEach(async () => {
    mac = await launchdMachine({ registrationCap: 3 });
    mac.machine.write('/var/log/system.log', '');
    mac.machine.write('/tmp/x', '');
    chmodSync(mac.machine.path('/tmp'), 0o1777);
  });

  afterEach(() => mac.stop());

  const bootstrap = async (script: string, keys: Parameters<LaunchdMachine['daemon']>[1] = {}): Promise<void> => {
    mac.program(`/opt/${label}`, script);
    const { code } = await mac.launchctl('bootstrap', 'system', mac.daemon(label, keys));
    assert.equal(code, 0);
  };
  const job = (): ReturnType<LaunchdMachine['launchd']['job']> => mac.launchd.job(label);
  const logged = (text: string): Promise<true> => eventually(`the log has ${text}`, () => mac.read(log).includes(text));

  describe('receives', () => {
    test('its arguments unchanged, and its log appended to the old one', async () => {
      mac.machine.write(log, 'before\n');
      await bootstrap('printf "%s\\n" "$@"; echo wrong >&2', {
        ProgramArguments: [`/opt/${label}`, '--url=http://a/?b=1&c=2', "it's", '$HOME', '/etc/x'],
        StandardOutPath: log,
        StandardErrorPath: '/var/log/job.err',
      });
      await mac.machine.waitForJournal('launchd.exit');
      assert.equal(mac.read(log), "before\n--url=http://a/?b=1&c=2\nit's\n$HOME\n/etc/x\n");
      assert.equal(mac.read('/var/log/job.err'), 'wrong\n');
    });

    test('its environment, with the paths of this Mac’s disk', async () => {
      mac.machine.write('/usr/local/bin/ours', '#!/bin/sh\necho found\n', 0o755);
      await bootstrap('echo "$HOME $GREETING $TARTAN_ROOT $(ours) $XPC_SERVICE_NAME"', {
        EnvironmentVariables: { HOME: '/Users/m1', PATH: '/usr/local/bin:/usr/bin:/bin', GREETING: 'a & b' },
        StandardOutPath: log,
      });
      await mac.machine.waitForJournal('launchd.exit');
      const { root } = mac.machine;
      assert.equal(mac.read(log), `${root}/Users/m1 a & b ${root} found ${label}\n`);
    });

    test('a folder to work in', async () => {
      mkdirSync(mac.machine.path('/opt/work'), { recursive: true });
      await bootstrap('pwd -P', { WorkingDirectory: '/opt/work', StandardOutPath: log });
      await mac.machine.waitForJournal('launchd.exit');
      assert.match(mac.read(log), /\/opt\/work\n$/);
    });
  });

  describe('that cannot be started ends with 78 (EX_CONFIG) and is retried without a message', () => {
    const isTriedAgain = async (): Promise<void> => {
      assert.equal(job()?.lastExit, '78: EX_CONFIG');
      assert.equal(job()?.state, 'spawn scheduled');
      mac.clock.advance(10_000);
      assert.equal(job()?.runs, 2);
      assert.equal(mac.machine.journalOf('launchd.spawn').length, 0);
    };

    test('when its user may not create the log (INC-224)', async () => {
      await bootstrap(forever, { KeepAlive: true, UserName: 'm1', StandardErrorPath: log });
      await isTriedAgain();
      mac.machine.write(log, '');
      mac.machine.setOwner(log, 'm1');
      mac.clock.advance(10_000);
      assert.equal(job()?.state, 'running');
    });

    test('when another user owns the log', async () => {
      mac.machine.write(log, '');
      await bootstrap(forever, { KeepAlive: true, UserName: 'm1', StandardOutPath: log });
      await isTriedAgain();
    });

    test('when the folder of the log is missing', async () => {
      await bootstrap(forever, { KeepAlive: true, StandardOutPath: '/var/log/nowhere/job.log' });
      await isTriedAgain();
    });

    test('when the log path is in shell quotes (INC-226)', async () => {
      await bootstrap(forever, { KeepAlive: true, StandardOutPath: `'/var/log/job.log'` });
      await isTriedAgain();
    });

    test('when its user is unknown', async () => {
      await bootstrap(forever, { KeepAlive: true, UserName: 'm2' });
      await isTriedAgain();
    });

    test('when its working directory is missing', async () => {
      await bootstrap(forever, { KeepAlive: true, WorkingDirectory: '/opt/nowhere' });
      await isTriedAgain();
    });

    test('when its program cannot be executed', async () => {
      mac.machine.write(`/opt/plain`, 'no program');
      await bootstrap(forever, { KeepAlive: true, ProgramArguments: ['/opt/plain'] });
      await isTriedAgain();
    });
  });

  test('of the user may log to a world-writable folder, and again to its own file', async () => {
    await bootstrap('echo run', { KeepAlive: true, UserName: 'm1', StandardOutPath: '/tmp/job.log' });
    await mac.machine.waitForJournal('launchd.exit');
    mac.clock.advance(10_000);
    await mac.machine.waitForJournal('launchd.exit', 2);
    assert.equal(mac.read('/tmp/job.log'), 'run\nrun\n');
  });

  describe('with KeepAlive', () => {
    test('is restarted, but not sooner than ten seconds after the last start', async () => {
      await bootstrap('exit 1', { KeepAlive: true, ThrottleInterval: 1 });
      await mac.machine.waitForJournal('launchd.exit');
      assert.equal(job()?.state, 'spawn scheduled');
      mac.clock.advance(9_999);
      assert.equal(job()?.runs, 1);
      mac.clock.advance(1);
      assert.equal(job()?.runs, 2);
    });

    test('is restarted at once after a long run', async () => {
      await bootstrap(forever, { KeepAlive: true });
      mac.clock.advance(60_000);
      await mac.launchctl('kill', 'KILL', `system/${label}`);
      await mac.machine.waitForJournal('launchd.exit');
      mac.clock.advance(0);
      assert.equal(job()?.runs, 2);
    });

    test('may be restarted only after a failure', async () => {
      await bootstrap('read -r code <"$TARTAN_ROOT"/tmp/x || exit 1', { KeepAlive: { SuccessfulExit: false } });
      await mac.machine.waitForJournal('launchd.exit');
      assert.equal(job()?.state, 'spawn scheduled');
      mac.machine.write('/tmp/x', '0\n');
      mac.clock.advance(10_000);
      await mac.machine.waitForJournal('launchd.exit', 2);
      assert.equal(job()?.state, 'not running');
    });

    test('is no longer restarted after too many registrations; a kickstart still works (INC-09)', async () => {
      mac.program(`/opt/${label}`, 'exit 0');
      const register = async (): Promise<void> => {
        const exits = mac.machine.journalOf('launchd.exit').length;
        assert.equal((await mac.launchctl('bootstrap', 'system', mac.daemon(label, { KeepAlive: true }))).code, 0);
        await mac.machine.waitForJournal('launchd.exit', exits + 1);
      };
      for (let time = 1; time <= 3; time += 1) {
        await register();
        assert.equal(job()?.state, 'spawn scheduled');
        await mac.launchctl('bootout', `system/${label}`);
        mac.clock.advance(5_000);
      }
      await register();
      assert.equal(job()?.state, 'not running');
      mac.clock.advance(60_000);
      assert.equal(job()?.runs, 1);
      await mac.launchctl('kickstart', `system/${label}`);
      assert.equal(job()?.runs, 2);
    });
  });

  test('without KeepAlive runs once', async () => {
    await bootstrap('exit 0');
    await mac.machine.waitForJournal('launchd.exit');
    mac.clock.advance(60_000);
    const { arguments: argv, ...others } = job() ?? { arguments: [] };
    assert.deepEqual(others, { state: 'not running', runs: 1, lastExit: '0' });
    assert.ok(argv.length > 0);
  });

  test('without RunAtLoad waits for its interval', async () => {
    await bootstrap('exit 0', { RunAtLoad: false, StartInterval: 60 });
    assert.equal(job()?.runs, 0);
    mac.clock.advance(60_000);
    await mac.machine.waitForJournal('launchd.exit');
    mac.clock.advance(60_000);
    await mac.machine.waitForJournal('launchd.exit', 2);
    assert.equal(job()?.runs, 2);
  });

  test('in a crash loop exits soon after each start', async () => {
    mac.machine.faults.crashLoop.add(label);
    await bootstrap(forever, { KeepAlive: true });
    for (let run = 1; run <= 2; run += 1) {
      mac.clock.advance(4_000);
      await mac.machine.waitForJournal('launchd.exit', run);
      assert.equal(job()?.state, 'spawn scheduled');
      mac.clock.advance(6_000);
    }
    assert.equal(job()?.runs, 3);
  });

  test('in a crash loop is seen running once, however little time passes', async () => {
    mac.machine.faults.crashLoop.add(label);
    await bootstrap(forever, { KeepAlive: true });
    const seen = job();
    assert.equal(seen?.state, 'running');
    assert.notEqual(seen.pid, undefined);
    assert.deepEqual([job()?.state, job()?.pid], ['not running', undefined]);
    await mac.machine.waitForJournal('launchd.exit');
    assert.equal(job()?.state, 'spawn scheduled');
  });

  describe('leaves running', () => {
    const node = JSON.stringify(process.execPath);
    const pidAfter = (word: string): number => Number(new RegExp(`^${word} (\\d+)$`, 'm').exec(mac.read(log))?.[1]);

    test('nothing of its process group when its process exits', async () => {
      await bootstrap('sleep 1000 &\necho child $!\nexec sleep 1000', { StandardOutPath: log });
      await logged('child');
      const child = pidAfter('child');
      assert.ok(isAlive(child));
      await mac.launchctl('kill', 'KILL', `system/${label}`);
      await eventually('the process is gone', () => !isAlive(child));
    });

    test('a process with its own session, until the Mac shuts down', async () => {
      await bootstrap(
        `${node} -e 'const vm = require("node:child_process").spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
require("node:fs").writeSync(1, "vm " + vm.pid + "\\n"); process.exit()'
exec sleep 1000`,
        { StandardOutPath: log },
      );
      await logged('vm');
      const vm = pidAfter('vm');
      assert.equal((await mac.launchctl('bootout', `system/${label}`)).code, 0);
      assert.ok(isAlive(vm));
      await mac.launchd.shutdown();
      await eventually('the process is gone', () => !isAlive(vm));
    });
  });

  describe('after a reboot', () => {
    const reboot = async (): Promise<void> => {
      await mac.launchd.shutdown();
      await mac.launchd.boot();
    };

    test('ended with the old boot and runs in the new one, which does not count as a registration', async () => {
      await bootstrap(forever);
      const before = job()?.pid;
      await mac.launchd.shutdown();
      assert.equal(isAlive(before), false);
      assert.equal(job(), undefined);
      await mac.launchd.boot();
      assert.equal(job()?.state, 'running');
      assert.equal(mac.machine.journalOf('launchd.bootstrap').length, 1);
    });

    test('is not loaded if it is disabled, untrusted or deleted', async () => {
      await bootstrap(forever);
      for (const name of ['b', 'c']) mac.program(`/opt/${name}`, forever);
      mac.daemon('b');
      chmodSync(mac.machine.path(mac.daemon('c')), 0o666);
      mac.daemon('d');
      await mac.launchctl('disable', `system/${label}`);
      await reboot();
      assert.deepEqual(
        [label, 'b', 'c', 'd'].map((name) => mac.launchd.job(name)?.state),
        [undefined, 'running', undefined, undefined],
      );
    });

    test('does not wait for a throttle or a drain of the old boot', async () => {
      await bootstrap(forever);
      await mac.launchctl('bootout', `system/${label}`);
      await reboot();
      assert.equal(job()?.state, 'running');
    });
  });

  describe('of the GUI session', () => {
    const agents = { '/Library/LaunchAgents': 'a', '/Users/m1/Library/LaunchAgents': 'b' };

    beforeEach(() => {
      for (const [folder, name] of Object.entries(agents)) {
        mac.program(`/opt/${name}`, forever);
        mac.machine.write(
          `${folder}/${name}.plist`,
          plistText({ Label: name, ProgramArguments: [`/opt/${name}`], RunAtLoad: true }),
        );
      }
    });

    test('starts and ends with the session', async () => {
      assert.equal(mac.launchd.job('a'), undefined);
      mac.logIn();
      await mac.machine.waitForJournal('launchd.spawn', 2);
      const before = mac.launchd.job('b')?.pid;
      mac.console.end();
      assert.equal(mac.launchd.job('b'), undefined);
      await mac.machine.waitForJournal('launchd.exit', 2);
      assert.equal(isAlive(before), false);
    });

    test('is another process after loginwindow was restarted', async () => {
      mac.logIn();
      await mac.machine.waitForJournal('launchd.spawn', 2);
      const before = mac.launchd.job('a')?.pid;
      mac.logIn();
      await mac.machine.waitForJournal('launchd.spawn', 4);
      assert.notEqual(mac.launchd.job('a')?.pid, before);
      const order = mac.machine.journal.entries.map(({ what }) => what).filter((what) => what.startsWith('launchd'));
      const [spawn, exit] = ['launchd.spawn', 'launchd.exit'];
      assert.deepEqual(order, [spawn, spawn, exit, exit, spawn, spawn]);
    });

    test('is unknown without a session', async () => {
      assert.equal((await mac.launchctl('print', 'gui/501/a')).code, 113);
      assert.equal((await mac.launchctl('bootout', 'gui/501/a')).code, 125);
      assert.equal((await mac.launchctl('kickstart', '-k', 'gui/501/a')).code, 125);
    });
  });

  test('ends with 78 if its program is missing after it was loaded', async () => {
    await bootstrap('exit 0', { KeepAlive: true });
    await mac.machine.waitForJournal('launchd.exit');
    rmSync(mac.machine.path(`/opt/${label}`));
    mac.clock.advance(10_000);
    assert.equal(job()?.lastExit, '78: EX_CONFIG');
  });

  test('has no timer left when the Mac is off', async () => {
    await bootstrap('exit 0', { KeepAlive: true, StartInterval: 30 });
    await mac.machine.waitForJournal('launchd.exit');
    mac.logIn();
    mac.machine.faults.crashLoop.add('b');
    mac.program('/opt/b', forever);
    await mac.launchctl('bootstrap', 'system', mac.daemon('b'));
    assert.equal(mac.clock.pending(), 3);
    await mac.launchd.shutdown();
    await mac.console.shutdown();
    assert.equal(mac.clock.pending(), 0);
    assert.equal(mac.machine.journalOf('launchd.spawn').length, 2);
  });
});
