import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { sleep, systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import type { Mac, MacOptions } from '../mac.ts';
import { logIn, newKey, type SshClient } from '../testing/ssh-client.ts';
import { allowSudo, journalDetails, startTestMac } from '../testing/test-mac.ts';

const key = newKey();

const reachableMac = async (
  t: TestContext,
  options: Partial<MacOptions> = {},
): Promise<{ mac: Mac; client: SshClient }> => {
  const mac = await startTestMac(t, { authorizedKeys: [key.public], ...options });
  const client = await logIn(mac, key);
  return { mac, client };
};

/** Private fields of ssh2. */
interface Ssh2Internals {
  readonly _client: { readonly _protocol: { signal(id: number, name: string): void } };
  readonly outgoing: { readonly id: number };
}

describe('sshd of a Mac', () => {
  test('runs a command as the user, in their home, with the environment of a Mac', async (t) => {
    const { mac, client } = await reachableMac(t);
    const { code, stdout } = await client.run(
      'id -un; pwd; echo "$HOME $USER $TARTAN_ROOT"; echo "${SSH_CONNECTION%% *}"',
    );
    const home = mac.path('/Users/m1');
    assert.equal(stdout, `m1\n${home}\n${home} m1 ${mac.root}\n127.0.0.1\n`);
    assert.equal(code, 0);
    assert.equal(client.hostKey, mac.hostKey());
    assert.equal(journalDetails(mac, 'exec').length, 1);
    await client.end();
  });

  test('reports exit codes and signals as OpenSSH does', async (t) => {
    const { client } = await reachableMac(t);
    assert.deepEqual(await client.run('echo out; echo err >&2; exit 7'), { code: 7, stdout: 'out\n', stderr: 'err\n' });
    assert.equal((await client.run('kill -TERM $$')).signal, 'SIGTERM');
    assert.equal((await client.run('kill -KILL $$')).signal, 'SIGKILL');
    assert.equal((await client.run('no-such-command')).code, 127);
    await client.end();
  });

  test('passes a command all of its input and its end', async (t) => {
    const { mac, client } = await reachableMac(t);
    const input = randomBytes(3_000_000);
    const { code, stdout } = await client.run('cat >f; wc -c <f | tr -d " "', input);
    assert.equal(stdout, '3000000\n');
    assert.equal(code, 0);
    assert.ok(readFileSync(mac.path('/Users/m1/f')).equals(input));
    await client.end();
  });

  test('accepts a command that does not read its input', async (t) => {
    const { client } = await reachableMac(t);
    assert.deepEqual(await client.run('echo enough', randomBytes(3_000_000)), {
      code: 0,
      stdout: 'enough\n',
      stderr: '',
    });
    await client.end();
  });

  test('takes input no faster than the command does', async (t) => {
    const { client } = await reachableMac(t);
    const channel = await client.open('read -r line; cat >/dev/null');
    let taken = 0;
    let stuck = false;
    while (!stuck && taken < 64_000_000) {
      taken += 65_536;
      stuck =
        !channel.write(Buffer.alloc(65_536)) &&
        (await Promise.race([once(channel, 'drain'), sleep(systemClock, 500).then(() => 'stuck')])) === 'stuck';
    }
    // Windows and pipes buffer some of it, but far from all.
    assert.ok(stuck && taken < 16_000_000, `took ${taken} bytes`);
    channel.end();
    await client.end();
  });

  test('accepts the keys of both files, and no others', async (t) => {
    const mac = await startTestMac(t, { authorizedKeys: [key.public] });
    const other = newKey();
    await assert.rejects(logIn(mac, other), /authentication/);
    await assert.rejects(logIn(mac, key, 'root'), /authentication/);
    await mac.run('cat >"$HOME/.ssh/authorized_keys"', { stdin: `# mine\n${other.public} me\n` });
    await (await logIn(mac, other)).end();
    assert.deepEqual(journalDetails(mac, 'ssh.login'), ['m1']);
  });

  test('closes the connection after six refused keys (MaxAuthTries)', async (t) => {
    const mac = await startTestMac(t, { authorizedKeys: [key.public] });
    const wrong = Array.from({ length: 6 }, newKey);
    await (await logIn(mac, key, mac.user.name, wrong.slice(1))).end();
    await assert.rejects(logIn(mac, key, mac.user.name, wrong));
  });

  test('refuses an eleventh session on one connection', async (t) => {
    const { client } = await reachableMac(t);
    const channels = await Promise.all(Array.from({ length: 10 }, () => client.open('cat')));
    await assert.rejects(client.open('cat'), /open failure/);
    for (const channel of channels) channel.resume().end();
    await client.end();
  });

  test('a command keeps running when its connection is lost, with its input closed', async (t) => {
    const { mac, client } = await reachableMac(t);
    const channel = await client.open('echo started; cat >/dev/null; echo $? >ended');
    await once(channel, 'data');
    await client.end();
    await eventually(
      'the command has ended',
      () => existsSync(mac.path('/Users/m1/ended')) && statSync(mac.path('/Users/m1/ended')).size > 0,
    );
    assert.equal(readFileSync(mac.path('/Users/m1/ended'), 'utf8'), '0\n');
  });

  test('keeps a channel open while a process holds its output', async (t) => {
    const { mac, client } = await reachableMac(t);
    const channel = await client.open('mkfifo gate; cat gate & exit 3');
    let isClosed = false;
    const closed = once(channel, 'close').then(() => {
      isClosed = true;
    });
    channel.resume();
    const [code] = await once(channel, 'exit');
    assert.equal(code, 3);
    await client.run('true');
    assert.ok(!isClosed);
    await mac.run('echo late >gate');
    await closed;
    await client.end();
  });

  test('passes a signal on to the command', async (t) => {
    const { client } = await reachableMac(t);
    const channel = await client.open('echo started; while :; do sleep 1; done');
    await once(channel, 'data');
    const exit = once(channel, 'exit');
    channel.signal('TERM');
    assert.deepEqual((await exit).slice(0, 2), [null, 'SIGTERM']);
    await client.end();
  });

  test('passes a signal on to a command whose input has ended', async (t) => {
    const { client } = await reachableMac(t);
    const channel = await client.open('cat; echo started; while :; do sleep 1; done');
    channel.end();
    await once(channel, 'data');
    const exit = once(channel, 'exit');
    // The public `signal` of the client sends nothing after the end of the input.
    const { _client, outgoing } = channel as unknown as Ssh2Internals;
    _client._protocol.signal(outgoing.id, 'TERM');
    assert.deepEqual((await exit).slice(0, 2), [null, 'SIGTERM']);
    await client.end();
  });

  test('passes a signal only to the command that sudo runs', async (t) => {
    const { mac, client } = await reachableMac(t);
    await allowSudo(mac);
    const script = 'mkfifo gate; echo started; { read -r word; echo "$word" >survived; } <gate; true';
    const channel = await client.open(`exec sudo -n /bin/sh -c '( ${script} ); true'`);
    await once(channel, 'data');
    const exit = once(channel, 'exit');
    channel.signal('TERM');
    assert.deepEqual((await exit).slice(0, 2), [null, 'SIGTERM']);
    await mac.run('echo yes >gate; until [ -s survived ]; do sleep 0.01; done');
    await client.end();
  });
});

describe('faults of sshd', () => {
  test('another host key is used from now on, on the same port', async (t) => {
    const { mac, client } = await reachableMac(t);
    const before = mac.hostKey();
    await mac.changeHostKey();
    await client.closed;
    assert.notEqual(mac.hostKey(), before);
    const again = await logIn(mac, key);
    assert.equal(again.hostKey, mac.hostKey());
    assert.equal((await again.run('cat "$TARTAN_ROOT/etc/pf.conf" >/dev/null')).code, 0);
    await again.end();
  });

  test('a connection hangs before the banner', async (t) => {
    const mac = await startTestMac(t, { authorizedKeys: [key.public] });
    mac.faults.ssh = 'hang before the banner';
    const socket = connect(mac.address);
    await once(socket, 'connect');
    let received = 0;
    socket.on('data', ({ length }) => (received += length));
    const closed = once(socket, 'close');
    await mac.stop();
    await closed;
    assert.equal(received, 0);
  });

  test('connections are refused, and later accepted again on the same port', async (t) => {
    const mac = await startTestMac(t, { authorizedKeys: [key.public] });
    mac.faults.ssh = 'refuse';
    await assert.rejects(logIn(mac, key), /ECONNREFUSED/);
    mac.faults.ssh = 'normal';
    await (await logIn(mac, key)).end();
  });

  test('the connection is cut at a byte, and the command has the bytes before it', async (t) => {
    const { mac, client } = await reachableMac(t);
    mac.faults.disconnectAtByte = 100_000;
    const channel = await client.open('cat >f; echo ended >g');
    channel.write(randomBytes(1_000_000));
    await client.closed;
    await eventually('the command has ended', () => existsSync(mac.path('/Users/m1/g')));
    assert.equal(statSync(mac.path('/Users/m1/f')).size, 100_000);
    mac.faults.disconnectAtByte = undefined;
    const again = await logIn(mac, key);
    assert.equal((await again.run('cat >f; echo done', randomBytes(200_000))).stdout, 'done\n');
    await again.end();
  });
});
