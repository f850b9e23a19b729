import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { manualClock } from '@tartan/kube/clock';
import { startMac } from './start-mac.ts';
import { logIn, newKey } from './testing/ssh-client.ts';
import { journalDetails, startTestMac } from './testing/test-mac.ts';

const pace = 0.0001;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const bootTime = "sysctl -n kern.boottime | sed 's/^{ sec = \\([0-9]*\\),.*/\\1/'";

describe('a Mac', () => {
  test('has the files of a fresh macOS', async (t) => {
    const mac = await startTestMac(t);
    for (const path of [
      '/etc/pf.conf',
      '/etc/sudoers.d',
      '/Library/LaunchDaemons',
      '/var/log',
      '/Users/m1',
      '/Applications',
    ]) {
      assert.ok(existsSync(mac.path(path)), path);
    }
    for (const path of ['/usr/local/bin', '/opt', '/etc/kcpassword']) assert.ok(!existsSync(mac.path(path)), path);
    assert.equal(mac.guiSession(), 'none');
  });

  test('keeps its disk, its key and its port when it is stopped and started', async (t) => {
    const mac = await startTestMac(t, { pace });
    const { port } = mac.address;
    await mac.run('echo kept >f');
    await mac.stop();
    await mac.stop();
    await assert.rejects(mac.run('true'), /down/);
    const again = await startMac({ folder: dirname(mac.root), port, pace });
    try {
      assert.equal((await again.run('cat f')).stdout, 'kept\n');
      assert.equal(again.hostKey(), mac.hostKey());
      assert.equal(again.address.port, port);
    } finally {
      await again.stop();
    }
  });

  test('leaves no process when it stops, not even one in the background', async (t) => {
    const mac = await startTestMac(t);
    const { stdout } = await mac.run('sh -c "while :; do sleep 1; done" >/dev/null 2>&1 & echo $!');
    const pid = Number(stdout);
    assert.ok(isAlive(pid));
    await mac.stop();
    while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
  });
});

test('a process that ends without stopping its Macs leaves nothing of them behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-mac-'));
  const script = `
    import { realpathSync } from 'node:fs';
    import { startMac } from ${JSON.stringify(join(import.meta.dirname, 'start-mac.ts'))};
    const mac = await startMac({ folder: ${JSON.stringify(folder)} });
    const { stdout } = await mac.run('sh -c "while :; do sleep 1; done" >/dev/null 2>&1 & echo $!');
    console.log(stdout.trim(), realpathSync(${JSON.stringify(join(folder, '.mac/bin'))}));
    process.exit();
  `;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    const [pid, bin = ''] = stdout.trim().split(' ');
    while (isAlive(Number(pid))) await new Promise((resolve) => setImmediate(resolve));
    assert.match(bin, /userland/);
    assert.ok(!existsSync(bin));
    assert.ok(!existsSync(readlinkSync(join(folder, '.mac/calls'))));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('a reboot', () => {
  test('ends every process and connection, and comes back at the same address with a later boot time', async (t) => {
    const key = newKey();
    const mac = await startTestMac(t, { pace, authorizedKeys: [key.public] });
    const client = await logIn(mac, key);
    const before = Number((await client.run(bootTime)).stdout);
    const running = mac.run('while :; do sleep 1; done');
    await mac.reboot();
    assert.equal((await running).signal, 'SIGKILL');
    await client.closed;
    const again = await logIn(mac, key);
    assert.equal(again.hostKey, client.hostKey);
    assert.ok(Number((await again.run(bootTime)).stdout) > before);
    await again.end();
  });

  test('moves the boot time on even when the clock stands still', async (t) => {
    const clock = manualClock(Date.parse('2026-01-01T00:00:00.700Z'));
    const mac = await startTestMac(t, { clock, pace: 0 });
    const times: number[] = [];
    for (let boot = 0; boot < 3; boot += 1) {
      times.push(Number((await mac.run(bootTime)).stdout));
      await mac.reboot();
    }
    assert.deepEqual(times, [1767225600, 1767225601, 1767225602]);
  });

  test('can be requested on the Mac itself, by root', async (t) => {
    const key = newKey();
    const mac = await startTestMac(t, { pace, authorizedKeys: [key.public] });
    assert.equal((await mac.run('shutdown -r now')).code, 1);
    const client = await logIn(mac, key);
    const asked = mac.run('shutdown -r now; while :; do sleep 1; done', { asRoot: true });
    assert.equal((await asked).signal, 'SIGKILL');
    await client.closed;
    // sshd starts a while after the boot.
    const again = async (): ReturnType<typeof logIn> => logIn(mac, key).catch(again);
    await (await again()).end();
    assert.equal(journalDetails(mac, 'boot').length, 2);
  });
});

describe('a reinstall', () => {
  test('wipes the disk, creates a new host key and injects keys again', async (t) => {
    const [old, fresh] = [newKey(), newKey()];
    const mac = await startTestMac(t, { pace, authorizedKeys: [old.public] });
    const before = mac.hostKey();
    await mac.run('echo mine >f; touch "$TARTAN_ROOT/etc/kcpassword"');
    await mac.reinstall({ authorizedKeys: [fresh.public], password: 'another' });
    assert.notEqual(mac.hostKey(), before);
    assert.equal(mac.user.password, 'another');
    assert.ok(!existsSync(mac.path('/Users/m1/f')));
    assert.ok(!existsSync(mac.path('/etc/kcpassword')));
    await assert.rejects(logIn(mac, old), /authentication/);
    const client = await logIn(mac, fresh);
    assert.equal(client.hostKey, mac.hostKey());
    await client.end();
  });

  test('that does not wipe keeps everything', async (t) => {
    const [old, fresh] = [newKey(), newKey()];
    const mac = await startTestMac(t, { pace, authorizedKeys: [old.public] });
    const before = mac.hostKey();
    await mac.run('echo mine >f');
    mac.faults.reinstallDoesNotWipe = true;
    await mac.reinstall({ authorizedKeys: [fresh.public] });
    assert.equal(mac.hostKey(), before);
    assert.equal((await mac.run('cat f')).stdout, 'mine\n');
    await (await logIn(mac, old)).end();
    await assert.rejects(logIn(mac, fresh), /authentication/);
  });
});

describe('a disk that is full', () => {
  test('makes every writer fail after it truncated its target', async (t) => {
    const mac = await startTestMac(t);
    await mac.run('printf old >f; head -c 50000 /dev/urandom >big; tar -czf big.tgz big');
    mac.faults.diskFree = 0;
    for (const command of [
      'cat big >f',
      'tee f <big >/dev/null',
      'cp big f',
      'dd if=big of=f 2>&1 >/dev/null | cat >&2',
      'gzip -c big >f',
    ]) {
      const { code, stderr } = await mac.run(command);
      assert.match(stderr, /No space left on device/, command);
      if (!command.includes('|')) assert.notEqual(code, 0, command);
      // Its old content may make room for one block.
      assert.ok(statSync(mac.path('/Users/m1/f')).size <= 4096, command);
    }
    assert.notEqual((await mac.run('mkdir d; tar -xzf big.tgz -C d')).code, 0);
    assert.match((await mac.run('df -k . | tail -1')).stdout, /^\S+ \d+ \d+ 0 100%/);
    mac.faults.diskFree = undefined;
    assert.deepEqual(await mac.run('cat big >f && cmp big f'), { code: 0, signal: null, stdout: '', stderr: '' });
  });

  test('accepts data that fits, and has less space afterwards', async (t) => {
    const mac = await startTestMac(t);
    await mac.run('head -c 60000 /dev/urandom >big');
    mac.faults.diskFree = 100 * 1024;
    const free = 'df -kP . | awk "NR == 2 { print \\$4 }"';
    assert.equal((await mac.run(`${free}; cat big >first && ${free}`)).stdout, '100\n40\n');
    assert.match((await mac.run('cat big >second')).stderr, /No space left on device/);
    assert.equal((await mac.run('wc -c <second | tr -d " "')).stdout, '40960\n');
    assert.equal((await mac.run(`rm first second; cat big >third && ${free}`)).stdout, '40\n');
  });

  test('does not affect commands that write no file', async (t) => {
    const mac = await startTestMac(t);
    mac.faults.diskFree = 10_000;
    await mac.run('printf %020000d 1 >the-shell-knows-no-limit');
    assert.deepEqual(await mac.run('cat; cat nothing', { stdin: 'in\n' }), {
      code: 1,
      signal: null,
      stdout: 'in\n',
      stderr: (await mac.run('cat nothing')).stderr,
    });
  });
});

test('traced arguments record every process of a script in the journal', async (t) => {
  const mac = await startTestMac(t, { traceArguments: true });
  const { stdout } = await mac.run(
    'printf "%s\\n" builtin | grep built | sed s/b/B/; env printf "%s\\n" planted; date -r 0 +%s',
  );
  assert.equal(stdout, 'Builtin\nplanted\n0\n');
  const argv = journalDetails(mac, 'argv');
  for (const call of [
    'grep built',
    'sed s/b/B/',
    'env printf %s\\n planted',
    'printf %s\\n planted',
    'date -r 0 +%s',
  ]) {
    assert.ok(argv.includes(call), `${call} is missing in ${argv.join(' | ')}`);
  }
});

test('sixteen Macs run side by side, each in less than 10 MB', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-macs-'));
  const start = (name: number) => startMac({ folder: join(folder, String(name)) });
  const first = await start(0);
  const before = process.memoryUsage().rss;
  const macs = [first, ...(await Promise.all(Array.from({ length: 15 }, (_, index) => start(index + 1))))];
  try {
    const answers = await Promise.all(
      macs.map((mac, index) => mac.run(`echo ${index} >f; date -r ${index} +%s; cat f`)),
    );
    assert.deepEqual(
      answers.map(({ stdout }) => stdout),
      macs.map((_, index) => `${index}\n${index}\n`),
    );
    assert.ok((process.memoryUsage().rss - before) / 15 < 10_000_000);
  } finally {
    await Promise.all(macs.map((mac) => mac.stop()));
    rmSync(folder, { recursive: true });
  }
});

describe('a Mac that is stopped while it restarts', () => {
  test('does not boot if it is still down', async (t) => {
    const mac = await startTestMac(t, { pace: 1 });
    const rebooted = mac.reboot();
    while (journalDetails(mac, 'reboot').length === 0) await new Promise((resolve) => setImmediate(resolve));
    await mac.stop();
    await rebooted;
    assert.equal(journalDetails(mac, 'boot').length, 1);
    await assert.rejects(mac.run('true'), /down/);
  });

  test('is shut down again if it was just booting', async (t) => {
    const mac = await startTestMac(t, { pace: 0 });
    const record = mac.journal.record;
    const { promise: stopped, resolve } = Promise.withResolvers<void>();
    mac.journal.record = (what, detail) => {
      record(what, detail);
      if (what === 'boot') resolve(mac.stop());
    };
    await mac.reboot();
    await stopped;
    assert.equal(journalDetails(mac, 'boot').length, 2);
    await assert.rejects(mac.run('true'), /down/);
    await assert.rejects(logIn(mac, newKey()), /ECONNREFUSED/);
  });
});
