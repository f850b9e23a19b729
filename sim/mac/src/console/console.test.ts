import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { type MinimalMachine, minimalMachine } from '../testing/minimal-machine.ts';
import { type Console, createConsole } from './console.ts';
import { encodeKcpassword, sealedPassword } from './kcpassword.ts';

const preferences = `<plist version="1.0"><dict><key>autoLoginUser</key><string>m1</string></dict></plist>\n`;

describe('the console of a simulated Mac', () => {
  let clock: ManualClock;
  let machine: MinimalMachine;
  let console: Console;

  beforeEach(async () => {
    clock = manualClock();
    machine = minimalMachine({ clock, pace: 1 });
    console = createConsole(machine);
    machine.write('/Library/Preferences/com.apple.loginwindow.plist', preferences);
    machine.write('/etc/kcpassword', encodeKcpassword('the true one'), 0o600);
    await console.boot();
  });

  afterEach(async () => {
    await console.shutdown();
    machine.remove();
  });

  const kick = (): 'done' | 'forbidden' => console.loginwindow.kickstart({ kill: true });

  test('a headless boot does not log in, though auto-login is set up (INC-202)', () => {
    clock.advance(60_000);
    assert.equal(console.session(), 'none');
  });

  test('loginwindow logs in when it is started again', () => {
    kick();
    assert.equal(console.session(), 'none');
    clock.advance(2_000);
    assert.equal(console.session(), 'Aqua');
    assert.deepEqual(machine.journalOf('console.session'), ['Aqua']);
    assert.deepEqual(machine.journalOf('loginwindow.respawn'), ['']);
  });

  test('a wrong password is replaced with <sealed>, without a login (INC-07)', () => {
    machine.setPassword('another one');
    kick();
    clock.advance(60_000);
    assert.equal(console.session(), 'none');
    assert.deepEqual(readFileSync(machine.path('/etc/kcpassword')), sealedPassword);
    assert.deepEqual(machine.journalOf('console.sealed'), ['m1']);
  });

  test('kickstart -k ends the session before it creates a new one', () => {
    kick();
    clock.advance(2_000);
    const sessions: string[] = [];
    console.onSession((session) => sessions.push(session));
    kick();
    assert.equal(console.session(), 'none');
    clock.advance(2_000);
    assert.deepEqual(sessions, ['none', 'Aqua']);
  });

  test('SIGHUP ends loginwindow, and later signals find no process, until a kickstart (INC-08)', () => {
    assert.equal(console.loginwindow.signal('SIGHUP'), true);
    assert.equal(console.loginwindow.running(), false);
    assert.equal(console.loginwindow.signal('SIGHUP'), false);
    assert.equal(console.loginwindow.signal('SIGTERM'), false);
    clock.advance(60_000);
    assert.equal(console.session(), 'none');
    assert.equal(kick(), 'done');
    clock.advance(2_000);
    assert.equal(console.session(), 'Aqua');
  });

  test('there is no session without loginwindow', () => {
    kick();
    clock.advance(2_000);
    machine.faults.loginwindow = 'dead';
    assert.equal(console.session(), 'none');
  });

  test('a loginwindow that is dead from the start is started by a kickstart and by a reboot', async () => {
    machine.faults.loginwindow = 'dead';
    assert.equal(console.loginwindow.signal('SIGTERM'), false);
    kick();
    assert.equal(console.loginwindow.running(), true);
    machine.faults.loginwindow = 'dead';
    await console.shutdown();
    await console.boot();
    assert.equal(console.loginwindow.running(), true);
  });

  test('where kickstart -k is forbidden, launchd restarts loginwindow after SIGTERM', () => {
    machine.faults.loginwindow = 'forbidden';
    assert.equal(kick(), 'forbidden');
    clock.advance(60_000);
    assert.equal(console.session(), 'none');
    assert.equal(console.loginwindow.signal('SIGTERM'), true);
    clock.advance(2_000);
    assert.equal(console.session(), 'Aqua');
  });

  test('a lost session is not restored by itself', () => {
    kick();
    clock.advance(2_000);
    console.end();
    assert.equal(console.session(), 'none');
    assert.equal(console.loginwindow.running(), true);
    clock.advance(60_000);
    assert.equal(console.session(), 'none');
  });

  test('with the fault noGuiSession no password starts a session', () => {
    machine.faults.noGuiSession = true;
    kick();
    clock.advance(60_000);
    assert.equal(console.session(), 'none');
    assert.deepEqual(readFileSync(machine.path('/etc/kcpassword')), encodeKcpassword('the true one'));
  });

  test('a signal that ends nothing changes nothing', () => {
    kick();
    clock.advance(2_000);
    assert.equal(console.loginwindow.signal('SIGUSR1'), true);
    assert.equal(console.session(), 'Aqua');
  });

  test('nothing happens on a Mac that is off', async () => {
    kick();
    await console.shutdown();
    clock.advance(60_000);
    assert.equal(console.loginwindow.running(), false);
    assert.deepEqual(machine.journalOf('console.session'), []);
  });
});
