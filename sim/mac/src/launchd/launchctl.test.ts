import assert from 'node:assert/strict';
import { chmodSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { forever, type LaunchdMachine, launchdMachine } from '../testing/launchd-machine.ts';
import { resultText } from '../testing/minimal-machine.ts';
import { plistText } from '../tools/plist-file.ts';

const label = 'dev.tuist.job';
const target = `system/${label}`;
const stubborn = `trap '' TERM\necho ready\nwhile :; do sleep 0.05; done`;
const log = { StandardOutPath: '/var/log/job.log' };

describe('launchctl', () => {
  let mac: LaunchdMachine;
  let plist: string;

  beforeEach(async () => {
    mac = await launchdMachine();
    mac.machine.write('/var/log/system.log', '');
    mac.program(`/opt/${label}`, forever);
    plist = mac.daemon(label, { KeepAlive: true, ...log });
  });

  afterEach(() => mac.stop());

  const bootstrap = (): Promise<string> => mac.launchctl('bootstrap', 'system', plist).then(resultText);
  const pid = (): number | undefined => mac.launchd.job(label)?.pid;
  const ready = (): Promise<true> =>
    eventually('the job is ready', () => mac.read('/var/log/job.log').includes('ready'));

  describe('print', () => {
    test('shows a running job with its process', async () => {
      assert.equal(await bootstrap(), '0');
      const { code, stdout = '' } = await mac.launchctl('print', target);
      assert.equal(code, 0);
      for (const line of [
        'state = running',
        `pid = ${pid()}`,
        `program = /opt/${label}`,
        'runs = 1',
        'active count = 1',
        'minimum runtime = 10',
        'exit timeout = 5',
        'last exit code = (never exited)',
        `path = ${plist}`,
      ]) {
        assert.match(stdout, new RegExp(`^\\t${line.replace(/[.()]/g, '\\$&')}$`, 'm'));
      }
    });

    test('shows no pid of a job that does not run', async () => {
      mac.program(`/opt/${label}`, 'exit 78');
      await bootstrap();
      await mac.machine.waitForJournal('launchd.exit');
      const { stdout = '' } = await mac.launchctl('print', target);
      assert.match(stdout, /^\tstate = spawn scheduled$/m);
      assert.match(stdout, /^\tlast exit code = 78: EX_CONFIG$/m);
      assert.doesNotMatch(stdout, /pid/);
    });

    test('answers 113 for a job that is not loaded', async () => {
      const answer = resultText(await mac.launchctl('print', target));
      assert.equal(answer, `113 Bad request. / Could not find service "${label}" in domain for system`);
    });

    test('shows the GUI session to root', async () => {
      mac.logIn();
      const { code, stdout } = await mac.launchctl('print', 'gui/501');
      assert.equal(code, 0);
      assert.match(stdout ?? '', /^\tsession = Aqua$/m);
      assert.equal((await mac.launchctlAsUser('print', 'gui/501')).code, 1);
    });

    test('answers 125 when nobody is logged in (INC-06)', async () => {
      const answer = resultText(await mac.launchctl('print', 'gui/501'));
      assert.equal(answer, '125 Could not print domain: 125: Domain does not support specified action');
    });

    test('answers 125 for another user than the one logged in', async () => {
      mac.logIn();
      assert.equal((await mac.launchctl('print', 'gui/502')).code, 125);
    });
  });

  describe('list', () => {
    test('has three columns, and a negative status for a signal', async () => {
      mac.program('/opt/b', 'exit 3');
      await mac.launchctl('bootstrap', 'system', mac.daemon('b'));
      mac.program('/opt/c', 'kill -9 $$');
      await mac.launchctl('bootstrap', 'system', mac.daemon('c'));
      await mac.machine.waitForJournal('launchd.exit', 2);
      await bootstrap();
      const { stdout = '' } = await mac.launchctl('list');
      assert.deepEqual(
        stdout.split('\n').filter((line) => !line.includes('loginwindow')),
        ['PID\tStatus\tLabel', '-\t3\tb', '-\t-9\tc', `${pid()}\t0\t${label}`, ''],
      );
    });

    test('shows the user no job of the system', async () => {
      await bootstrap();
      assert.equal((await mac.launchctlAsUser('list')).stdout, 'PID\tStatus\tLabel\n');
    });

    test('returns whether a label is loaded', async () => {
      assert.equal((await mac.launchctl('list', label)).code, 113);
      await bootstrap();
      const { code, stdout } = await mac.launchctl('list', label);
      assert.equal(code, 0);
      assert.match(stdout ?? '', new RegExp(`"PID" = ${pid()};`));
    });
  });

  describe('bootstrap', () => {
    test('answers 5 while the label drains after a bootout, though it is no longer listed (INC-220)', async () => {
      await bootstrap();
      assert.equal(resultText(await mac.launchctl('bootout', target)), '0');
      assert.equal((await mac.launchctl('print', target)).code, 113);
      mac.clock.advance(3_000);
      assert.equal(await bootstrap(), '5 Bootstrap failed: 5: Input/output error');
      mac.clock.advance(2_000);
      assert.equal(await bootstrap(), '0');
    });

    test('answers 5 until the old process has exited', async () => {
      mac.program(`/opt/${label}`, stubborn);
      plist = mac.daemon(label, { ...log, ExitTimeOut: 60 });
      await bootstrap();
      await ready();
      const bootout = mac.launchctl('bootout', target);
      mac.clock.advance(30_000);
      assert.equal((await bootout).code, 36);
      assert.equal(await bootstrap(), '5 Bootstrap failed: 5: Input/output error');
      assert.match((await mac.launchctl('print', target)).stdout ?? '', /state = SIGTERMed/);
      mac.clock.advance(30_000);
      await mac.machine.waitForJournal('launchd.exit');
      assert.equal(await bootstrap(), '0');
    });

    test('answers 37 for a label that is loaded', async () => {
      await bootstrap();
      assert.equal(await bootstrap(), '37 Bootstrap failed: 37: Operation already in progress');
      assert.equal(mac.machine.journalOf('launchd.bootstrap').length, 1);
    });

    test('answers 119 for a label that was disabled, also with a new plist and after a reboot', async () => {
      assert.equal(resultText(await mac.launchctl('disable', target)), '0');
      rmSync(mac.machine.path(plist));
      await mac.launchd.shutdown();
      await mac.launchd.boot();
      plist = mac.daemon(label);
      assert.equal(await bootstrap(), '119 Bootstrap failed: 119: Service is disabled');
      assert.match((await mac.launchctl('print-disabled', 'system')).stdout ?? '', /"dev.tuist.job" => disabled/);
      assert.equal(resultText(await mac.launchctl('enable', target)), '0');
      assert.equal(await bootstrap(), '0');
    });

    const malformed: Readonly<Record<string, string>> = {
      'a bare &': plistText({ Label: label, ProgramArguments: [`/opt/${label}`, 'a&b'] }).replace('&amp;', '&'),
      'half a file': plistText({ Label: label, ProgramArguments: [`/opt/${label}`] }).slice(0, 90),
      'no label': plistText({ ProgramArguments: [`/opt/${label}`] }),
      'no program': plistText({ Label: label }),
      'a program that is not there': plistText({ Label: label, ProgramArguments: ['/opt/gone'] }),
      'a program in shell quotes (INC-226)': plistText({ Label: label, ProgramArguments: [`'/opt/${label}'`] }),
    };

    for (const [name, text] of Object.entries(malformed)) {
      test(`answers 5 for a plist with ${name}`, async () => {
        mac.machine.write(plist, text);
        assert.equal(await bootstrap(), '5 Bootstrap failed: 5: Input/output error');
        assert.equal(mac.launchd.job(label), undefined);
      });
    }

    test('answers 5 for a missing plist', async () => {
      rmSync(mac.machine.path(plist));
      assert.equal(await bootstrap(), '5 Bootstrap failed: 5: Input/output error');
    });

    test('answers 122 for a plist that others may write, or that root does not own', async () => {
      const bad = '122 Bootstrap failed: 122: Path had bad ownership/permissions';
      chmodSync(mac.machine.path(plist), 0o664);
      assert.equal(await bootstrap(), bad);
      chmodSync(mac.machine.path(plist), 0o646);
      assert.equal(await bootstrap(), bad);
      chmodSync(mac.machine.path(plist), 0o644);
      mac.machine.setOwner(plist, 'm1');
      assert.equal(await bootstrap(), bad);
    });

    test('answers 125 for the domain of a missing session', async () => {
      const answer = resultText(await mac.launchctl('bootstrap', 'gui/501', plist));
      assert.equal(answer, '125 Bootstrap failed: 125: Domain does not support specified action');
    });

    test('loads a LaunchAgent of the user into the session, as root only (INC-228)', async () => {
      mac.logIn();
      plist = mac.daemon(label);
      mac.machine.setOwner(plist, 'm1');
      assert.equal((await mac.launchctlAsUser('bootstrap', 'gui/501', plist)).code, 5);
      assert.equal(resultText(await mac.launchctl('bootstrap', 'gui/501', plist)), '0');
      assert.match((await mac.launchctl('print', `gui/501/${label}`)).stdout ?? '', /state = running/);
      assert.equal((await mac.launchctl('print', target)).code, 113);
    });

    test('accepts the path of a script on the real disk', async () => {
      assert.equal(resultText(await mac.launchctl('bootstrap', 'system', mac.machine.path(plist))), '0');
      assert.match((await mac.launchctl('print', target)).stdout ?? '', new RegExp(`path = ${plist}`));
    });

    test('may register a job without ever starting it, until a kickstart', async () => {
      mac.machine.faults.neverSpawned.add(label);
      assert.equal(await bootstrap(), '0');
      const { stdout = '' } = await mac.launchctl('print', target);
      assert.match(stdout, /state = not running/);
      assert.match(stdout, /last exit code = \(never exited\)/);
      assert.equal(resultText(await mac.launchctl('kickstart', target)), '0');
      assert.equal(mac.launchd.job(label)?.state, 'running');
    });

    test('has shorter error messages for the user than for root', async () => {
      const answer = resultText(await mac.launchctlAsUser('bootstrap', 'system', plist));
      assert.match(answer, /^5 Bootstrap failed: 5: Input\/output error \/ Try re-running the command as root/);
    });
  });

  describe('bootout', () => {
    test('answers 3 by label and 5 by path for a job that is not loaded', async () => {
      assert.equal(resultText(await mac.launchctl('bootout', target)), '3 Boot-out failed: 3: No such process');
      assert.equal(
        resultText(await mac.launchctl('bootout', 'system', plist)),
        '5 Boot-out failed: 5: Input/output error',
      );
    });

    test('stops a job by its path', async () => {
      await bootstrap();
      assert.equal(resultText(await mac.launchctl('bootout', 'system', plist)), '0');
      assert.equal(mac.launchd.job(label), undefined);
      assert.deepEqual(mac.machine.journalOf('launchd.bootout'), [label]);
    });

    test('answers 36 for a process that exits slowly, which is killed after its exit timeout', async () => {
      mac.program(`/opt/${label}`, stubborn);
      await bootstrap();
      await ready();
      const first = mac.launchctl('bootout', target);
      assert.equal((await mac.launchctl('bootout', target)).code, 36);
      mac.clock.advance(2_500);
      assert.equal(resultText(await first), '36 Boot-out failed: 36: Operation now in progress');
      assert.equal(mac.machine.journalOf('launchd.exit').length, 0);
      mac.clock.advance(2_500);
      await mac.machine.waitForJournal('launchd.exit');
      assert.match(mac.machine.journalOf('launchd.exit')[0] ?? '', /Killed: 9$/);
      assert.equal((await mac.launchctl('print', target)).code, 113);
    });
  });

  describe('kickstart', () => {
    test('answers 113 for a job that is not loaded, also one that was booted out', async () => {
      const unknown = `113 Bad request. / Could not find service "${label}" in domain for system`;
      assert.equal(resultText(await mac.launchctl('kickstart', '-k', target)), unknown);
      await bootstrap();
      await mac.launchctl('bootout', target);
      assert.equal(resultText(await mac.launchctl('kickstart', target)), unknown);
    });

    test('-k ends the process and starts another at once', async () => {
      await bootstrap();
      const before = pid();
      assert.equal(resultText(await mac.launchctl('kickstart', '-k', target)), '0');
      assert.notEqual(pid(), before);
      assert.equal(mac.launchd.job(label)?.runs, 2);
      assert.equal(mac.launchd.job(label)?.lastExit, 'Terminated: 15');
    });

    test('without -k leaves a running process alone', async () => {
      await bootstrap();
      const before = pid();
      assert.equal(resultText(await mac.launchctl('kickstart', '-p', target)), `0 service spawned with pid: ${before}`);
      assert.equal(pid(), before);
    });

    test('-k may answer 0 and leave the old process (C6)', async () => {
      await bootstrap();
      const before = pid();
      mac.machine.faults.kickstart = 'no-op';
      assert.equal(resultText(await mac.launchctl('kickstart', '-k', target)), '0');
      assert.equal(pid(), before);
      mac.machine.faults.kickstart = 'normal';
      await mac.launchctl('kickstart', '-k', target);
      assert.notEqual(pid(), before);
    });

    test('-k of two at once makes one new process', async () => {
      await bootstrap();
      await Promise.all([mac.launchctl('kickstart', '-k', target), mac.launchctl('kickstart', '-k', target)]);
      assert.equal(mac.launchd.job(label)?.runs, 2);
    });

    test('needs root', async () => {
      await bootstrap();
      const answer = resultText(await mac.launchctlAsUser('kickstart', '-k', target));
      assert.equal(answer, `1 Could not kickstart service "${label}": 1: Operation not permitted`);
    });
  });

  describe('of loginwindow', () => {
    const loginwindow = 'system/com.apple.loginwindow';

    test('kickstart -k restarts it', async () => {
      assert.equal(resultText(await mac.launchctl('kickstart', '-k', loginwindow)), '0');
      assert.equal(mac.machine.journalOf('loginwindow.respawn').length, 1);
    });

    test('kickstart -k may be forbidden; launchctl kill is not', async () => {
      mac.machine.faults.loginwindow = 'forbidden';
      const answer = resultText(await mac.launchctl('kickstart', '-k', loginwindow));
      assert.equal(answer, '1 Could not kickstart service "com.apple.loginwindow": 1: Operation not permitted');
      assert.equal(resultText(await mac.launchctl('kill', 'SIGTERM', loginwindow)), '0');
      assert.equal(mac.machine.journalOf('loginwindow.respawn').length, 1);
    });

    test('print shows whether it runs', async () => {
      assert.match((await mac.launchctl('print', loginwindow)).stdout ?? '', /state = running/);
      mac.machine.faults.loginwindow = 'dead';
      assert.match((await mac.launchctl('print', loginwindow)).stdout ?? '', /state = not running/);
      assert.equal((await mac.launchctl('kill', 'TERM', loginwindow)).code, 3);
    });

    test('bootout is refused', async () => {
      assert.equal((await mac.launchctl('bootout', loginwindow)).code, 150);
    });
  });

  test('kill sends a signal to the process of a job', async () => {
    assert.equal((await mac.launchctl('kill', 'TERM', target)).code, 113);
    await bootstrap();
    assert.equal(resultText(await mac.launchctl('kill', '9', target)), '0');
    await mac.machine.waitForJournal('launchd.exit');
    assert.equal(mac.launchd.job(label)?.lastExit, 'Killed: 9');
    assert.equal(
      resultText(await mac.launchctl('kill', 'TERM', target)),
      '3 Could not signal service: 3: No such process',
    );
  });

  test('load, a legacy command, reaches no GUI session (INC-228)', async () => {
    mac.logIn();
    assert.equal((await mac.launchctl('load', '-w', plist)).code, 5);
  });

  test('reports an unknown subcommand', async () => {
    assert.equal(resultText(await mac.launchctl('reboot')), '64 Unrecognized subcommand: reboot');
    assert.equal(resultText(await mac.launchctl('print', 'nowhere/a')), '64 Unrecognized target specifier.');
    assert.equal((await mac.launchctl('bootstrap', 'system')).code, 64);
    assert.equal((await mac.launchctl('kickstart', 'system')).code, 64);
    assert.equal((await mac.launchctl('kill', 'NOTHING', target)).code, 64);
  });
});
