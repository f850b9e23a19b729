import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { allowSudo, journalDetails, startTestMac } from '../../testing/test-mac.ts';
import { maxFailures, unlockAfterMs } from './sudo.ts';

const password = "it's $HOME \\ ünï";
const withPassword = { user: { password } };
const sudoersFile = '"$TARTAN_ROOT/etc/sudoers.d/m1-nopasswd"';

describe('sudo', () => {
  test('needs a password on a fresh Mac', async (t) => {
    const mac = await startTestMac(t);
    const { code, stderr } = await mac.run('sudo -n true');
    assert.deepEqual({ code, stderr }, { code: 1, stderr: 'sudo: a password is required\n' });
    assert.match((await mac.run('sudo true')).stderr, /a terminal is required/);
    assert.deepEqual(journalDetails(mac, 'sudo.password'), []);
  });

  test('reads one line as the password and leaves the rest to the command', async (t) => {
    const mac = await startTestMac(t, withPassword);
    const ended = await mac.run("sudo -S -p '' sh -c 'id -u; cat'", { stdin: `${password}\nfirst\nsecond` });
    assert.deepEqual(ended, { code: 0, signal: null, stdout: '0\nfirst\nsecond', stderr: '' });
    assert.deepEqual(journalDetails(mac, 'sudo.password'), ['right']);
  });

  test('runs a command after -k, and nothing without a command', async (t) => {
    const mac = await startTestMac(t, withPassword);
    assert.deepEqual((await mac.run("sudo -k -S -p '' id -u", { stdin: `${password}\n` })).stdout, '0\n');
    assert.deepEqual((await mac.run('sudo -k')).code, 0);
  });

  test('does not accept a password without a newline, nor count it as an attempt', async (t) => {
    const mac = await startTestMac(t, withPassword);
    const { code, stderr } = await mac.run('sudo -S id -u', { stdin: password });
    assert.equal(code, 1);
    assert.match(stderr, /no password was provided/);
    assert.deepEqual(journalDetails(mac, 'sudo.password'), ['none']);
  });

  test('treats the lines after a wrong password as further attempts', async (t) => {
    const mac = await startTestMac(t, withPassword);
    const { code, stdout, stderr } = await mac.run('sudo -S cat; cat', { stdin: 'wrong\npayload\nmore\nrest\n' });
    assert.equal(code, 0);
    assert.equal(stdout, 'rest\n');
    assert.equal(
      stderr,
      'Password:Sorry, try again.\nPassword:Sorry, try again.\nPassword:sudo: 3 incorrect password attempts\n',
    );
    assert.deepEqual(journalDetails(mac, 'sudo.password'), ['wrong', 'wrong', 'wrong']);
  });

  test('locks the account after several failures, until ten minutes pass without an attempt', async (t) => {
    const clock = manualClock();
    const mac = await startTestMac(t, { ...withPassword, clock });
    const attempt = async (word: string): Promise<number | null> =>
      (await mac.run('sudo -S true', { stdin: `${word}\n` })).code;
    for (let failure = 0; failure < maxFailures; failure += 1) assert.equal(await attempt('wrong'), 1);
    assert.equal(await attempt(password), 1);
    for (const _ of ['an attempt before its time', 'starts the wait anew']) {
      clock.advance(unlockAfterMs - 1);
      assert.equal(await attempt(password), 1);
    }
    clock.advance(unlockAfterMs);
    assert.equal(await attempt(password), 0);
    assert.deepEqual(journalDetails(mac, 'sudo.password').slice(maxFailures), ['locked', 'locked', 'locked', 'right']);
  });

  test('clears the failures at a reboot', async (t) => {
    const mac = await startTestMac(t, { ...withPassword, pace: 0.001 });
    await mac.run('sudo -S true; sudo -S true', { stdin: 'wrong\n'.repeat(6) });
    assert.equal((await mac.run('sudo -S true', { stdin: `${password}\n` })).code, 1);
    await mac.reboot();
    assert.equal((await mac.run('sudo -S true', { stdin: `${password}\n` })).code, 0);
  });

  test('never writes the password to the journal', async (t) => {
    const mac = await startTestMac(t, { ...withPassword, traceArguments: true });
    await mac.run('sudo -S true', { stdin: `not ${password}\n${password}\n` });
    assert.ok(!JSON.stringify(mac.journal.entries).includes(JSON.stringify(password).slice(1, -1)));
  });

  test('needs no password with NOPASSWD in sudoers.d', async (t) => {
    const mac = await startTestMac(t);
    await allowSudo(mac);
    assert.equal((await mac.run('sudo -n id -u')).stdout, '0\n');
    assert.equal((await mac.run('sudo -n -u m1 id -un')).stdout, 'm1\n');
    assert.equal((await mac.run('sudo -n -u nobody-here id -un')).code, 1);
    assert.equal((await mac.run('sudo -n sudo -n id -u')).stdout, '0\n');
    assert.equal((await mac.run("sudo -n sh -c 'exit 7'")).code, 7);
  });

  test('skips a file with a dot in its name', async (t) => {
    const mac = await startTestMac(t);
    await mac.run(
      `f="$TARTAN_ROOT/etc/sudoers.d/m1.nopasswd"; echo 'm1 ALL=(ALL) NOPASSWD: ALL' >"$f"; chmod 440 "$f"`,
    );
    assert.equal((await mac.run('sudo -n true')).stderr, 'sudo: a password is required\n');
  });

  test('fails for all users with one invalid file, with or without a password', async (t) => {
    const bad: readonly [make: string, error: RegExp][] = [
      [`echo 'm1 ALL=(ALL) NOPASSWD: ALL' >${sudoersFile}; chmod 644 ${sudoersFile}`, /mode 0644, should be 0440/],
      [`echo 'm1 ALL NOPASSWD' >${sudoersFile}; chmod 440 ${sudoersFile}`, /m1-nopasswd:1: syntax error/],
    ];
    for (const [make, error] of bad) {
      const mac = await startTestMac(t, withPassword);
      await mac.run(make);
      for (const command of ['sudo -n true', 'sudo -S true']) {
        const { code, stderr } = await mac.run(command, { stdin: `${password}\n` });
        assert.equal(code, 1);
        assert.match(stderr, error);
      }
    }
  });

  test('resets the environment, and keeps HOME unless -H is given', async (t) => {
    const mac = await startTestMac(t);
    await allowSudo(mac);
    const environment = async (sudo: string): Promise<Record<string, string | undefined>> =>
      Object.fromEntries(
        (await mac.run(`SECRET=x LC_ALL=C ${sudo} env`)).stdout.split('\n').map((line) => line.split('=', 2)),
      );
    const plain = await environment('sudo -n');
    assert.equal(plain['SECRET'], undefined);
    assert.equal(plain['SSH_CONNECTION'], undefined);
    assert.equal(plain['LC_ALL'], 'C');
    assert.equal(plain['USER'], 'root');
    assert.equal(plain['SUDO_USER'], 'm1');
    assert.equal(plain['TARTAN_ROOT'], mac.root);
    assert.equal(plain['HOME'], mac.path('/Users/m1'));
    assert.equal((await environment('sudo -n -H'))['HOME'], mac.path('/var/root'));
    assert.equal((await environment('sudo -n SECRET=given'))['SECRET'], 'given');
  });

  test('visudo reports whether a file is valid', async (t) => {
    const mac = await startTestMac(t);
    const good = await mac.run(`echo 'm1 ALL=(ALL) NOPASSWD: ALL' >f; visudo -cf f`);
    assert.deepEqual(good, { code: 0, signal: null, stdout: 'f: parsed OK\n', stderr: '' });
    const bad = await mac.run('echo m1 NOPASSWD >f; visudo -c -f f');
    assert.deepEqual(bad, { code: 1, signal: null, stdout: '', stderr: 'f:1: syntax error\n' });
    assert.equal((await mac.run('visudo -cf nothing')).code, 1);
  });
});
