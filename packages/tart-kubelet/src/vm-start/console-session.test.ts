import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type Clock, type ManualClock, manualClock, systemClock } from '@tartan/kube/clock';
import { type Mac, startMac } from '@tartan/sim-mac';
import type { RunCommand } from '../facts/run-command.ts';
import { type ConsoleSession, createConsoleSession } from './console-session.ts';

const { signal } = new AbortController();
const exited = (code: number, text = ''): Error => Object.assign(new Error(`Command failed\n${text}`), { code });

describe('the console session of a Mac', () => {
  let folder: string;
  let mac: Mac;
  let waited = 0;
  /** A hundred times as fast, like the Mac itself, and only waiting takes time: 30 checks happen however slow this machine is. */
  const clock: Clock = {
    ...systemClock,
    monotonic: () => waited,
    after: (milliseconds, run) =>
      systemClock.after(milliseconds / 100, () => {
        waited += milliseconds;
        run();
      }),
  };
  const run: RunCommand = async (command, args) => {
    const { code, stdout, stderr } = await mac.run([command, ...args].join(' '));
    if (code !== 0) throw exited(code ?? 1, stderr);
    return stdout;
  };
  const restarts = (): number => mac.journal.entries.filter(({ what }) => what === 'loginwindow.respawn').length;
  const keepPassword = (encoded: string): void => writeFileSync(mac.path('/etc/kcpassword'), encoded, 'base64');
  /** `the true one`, in macOS' encoding. */
  const right = 'CeE3A6bOqI+D1nEYiVIj0rzd6qO5Hw==';
  let session: ConsoleSession;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-session-'));
    mac = await startMac({ folder, pace: 0.01, user: { password: 'the true one' } });
    writeFileSync(mac.path('/etc/sudoers.d/m1-nopasswd'), 'm1 ALL=(ALL) NOPASSWD: ALL\n', { mode: 0o440 });
    await mac.run('defaults write /Library/Preferences/com.apple.loginwindow autoLoginUser m1', { asRoot: true });
  });
  after(async () => {
    await mac.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    Object.assign(mac.faults, { loginwindow: 'normal', noGuiSession: false });
    keepPassword(right);
    session = createConsoleSession({ uid: mac.user.uid, run, clock });
  });

  test('is restored after a boot without automatic login, and left alone when it exists (INC-06)', async () => {
    mac.endGuiSession();
    assert.equal(await session.exists(signal), false);
    const before = restarts();
    await session.ensure(signal);
    assert.equal(mac.guiSession(), 'Aqua');
    assert.equal(await session.exists(signal), true);
    await session.ensure(signal);
    assert.equal(restarts(), before + 1);
  });

  for (const fault of ['dead', 'forbidden'] as const)
    test(`is brought up when loginwindow is ${fault} (INC-08)`, async () => {
      mac.endGuiSession();
      mac.faults.loginwindow = fault;
      await session.ensure(signal);
      assert.equal(mac.guiSession(), 'Aqua');
    });

  test('is restored by one restart for all callers', async () => {
    mac.endGuiSession();
    const before = restarts();
    await Promise.all([session.ensure(signal), session.ensure(signal), session.ensure(signal)]);
    assert.equal(restarts(), before + 1);
  });

  test('that cannot be restored is an error with advice, and loginwindow is not restarted again at once (INC-07)', async () => {
    mac.endGuiSession();
    keepPassword('AAAA');
    const before = restarts();
    await assert.rejects(session.ensure(signal), /within 30 s.*automatic login.*<sealed>.*prepare-host/s);
    await assert.rejects(session.ensure(signal), /restarted \d+ s ago/);
    assert.equal(restarts(), before + 1);
  });
});

describe('the check for a console session', () => {
  const setUp = (answers: Readonly<Record<string, string | Error>>) => {
    const asked: string[] = [];
    const run: RunCommand = async (command, args) => {
      const line = [command, ...args].join(' ');
      asked.push(line);
      const answer = answers[line] ?? exited(1);
      if (typeof answer !== 'string') throw answer;
      return answer;
    };
    const clock = manualClock();
    return { asked, clock, session: createConsoleSession({ uid: 501, run, clock }) };
  };
  const printSession = 'sudo -n launchctl print gui/501';
  const kick = 'sudo -n launchctl kickstart -k system/com.apple.loginwindow';
  const kicks = (asked: readonly string[]): number => asked.filter((line) => line === kick).length;
  /** Advances that many seconds, with a check in each. */
  const pass = async (clock: ManualClock, seconds: number): Promise<void> => {
    for (let left = seconds; left > 0; left--) {
      for (let turn = 0; turn < 20; turn++) await setImmediate();
      clock.advance(1_000);
    }
  };

  test('ignores sessions of another type', async () => {
    const { session } = setUp({ [printSession]: 'gui/501 = {\n\tsession = Background\n}' });
    assert.equal(await session.exists(signal), false);
  });

  test('rejects when sudo needs a password or macOS does not answer, without a restart', async () => {
    for (const error of [exited(1, 'sudo: a password is required\n'), new Error('killed')]) {
      const { asked, session } = setUp({ [printSession]: error });
      await assert.rejects(session.exists(signal));
      await assert.rejects(session.ensure(signal));
      assert.equal(kicks(asked), 0);
    }
  });

  test('is repeated right before a restart', async () => {
    const asked: string[] = [];
    const run: RunCommand = async (command, args) => {
      if (asked.push([command, ...args].join(' ')) === 1) throw exited(113);
      return 'session = Aqua';
    };
    await createConsoleSession({ uid: 501, run, clock: manualClock() }).ensure(signal);
    assert.deepEqual(asked, [printSession, printSession]);
  });

  test('reports when every restart command fails', async () => {
    const { session } = setUp({ [printSession]: exited(113) });
    await assert.rejects(session.ensure(signal), /could not be restarted/);
  });

  test('restarts loginwindow at most once a minute', async () => {
    const { asked, clock, session } = setUp({ [printSession]: exited(113), [kick]: '' });
    for (const [after, expected] of [
      [0, 1],
      [20, 1],
      [2, 2],
    ] as const) {
      await pass(clock, after);
      const failed = assert.rejects(session.ensure(signal));
      await pass(clock, 31);
      await failed;
      assert.equal(kicks(asked), expected);
    }
  });

  test('is cancelled only when the last caller leaves', async () => {
    const { asked, clock, session } = setUp({ [printSession]: exited(113), [kick]: '' });
    const [one, other] = [new AbortController(), new AbortController()];
    const left = assert.rejects(session.ensure(one.signal), /enough/);
    const stayed = assert.rejects(session.ensure(other.signal), /enough too/);
    await pass(clock, 2);
    one.abort(new Error('enough'));
    await left;
    const before = asked.length;
    await pass(clock, 2);
    assert.equal(asked.length, before + 2);
    other.abort(new Error('enough too'));
    await stayed;
    await pass(clock, 5);
    assert.equal(asked.length, before + 2);
  });
});
