import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { fleetKey, workingSpec } from '@tartan/host/testing';
import { type Mac, type MacOptions, startMac } from '@tartan/sim-mac';
import { tartan } from '../program.ts';

/** The real commands over real SSH, against simulated Macs. */
describe('preparing a Mac by hand', () => {
  let folder: string;
  let identity: string;
  const macs: Mac[] = [];
  const { publicKey, privateKey } = fleetKey();
  const password = "right'password$";

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-cli-'));
    identity = join(folder, 'key');
    writeFileSync(identity, privateKey, { mode: 0o600 });
  });
  after(async () => {
    await Promise.all(macs.map((mac) => mac.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  const freshMac = async (options: Partial<MacOptions> = {}): Promise<Mac> => {
    const name = join(folder, `mac-${macs.length}`);
    const mac = await startMac({ folder: name, authorizedKeys: [publicKey], user: { password }, ...options });
    macs.push(mac);
    return mac;
  };

  const run = async (args: readonly string[], input = ''): Promise<{ code: number; out: string; err: string }> => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    stdin.end(input);
    const said = Promise.all([text(stdout), text(stderr)]);
    const code = await tartan(args, { stdin, stdout, stderr, env: {}, signal: new AbortController().signal });
    stdout.end();
    stderr.end();
    const [out, err] = await said;
    return { code, out, err };
  };
  const at = (mac: Mac): string[] => [mac.address.host, '--port', String(mac.address.port), '--identity', identity];
  const prepare = (mac: Mac, given: string, ...more: string[]) =>
    run(['prepare-host', ...at(mac), ...more], `${given}\n`);

  test('verifies root, power settings and the console session, and lists the next steps', async () => {
    const mac = await freshMac();
    const before = await run(['doctor', ...at(mac)]);
    assert.equal(before.code, 2, before.err);
    assert.match(before.out, /sudo asks m1 for a password/);
    assert.match(before.out, /sudo needs a password/);

    const { code, out } = await prepare(mac, password);
    assert.equal(code, 0, out);
    assert.match(out, /sudo, power and console session are verified.*Next steps/s);
    assert.ok(out.includes(mac.hostKey()));
    assert.equal(mac.guiSession(), 'Aqua');
    assert.ok(!out.includes(password));

    const after = await run(['doctor', ...at(mac)]);
    assert.equal(after.code, 0, after.out);
    assert.match(after.out, /All 3 steps match/);

    const changed = mac.journal.entries.length;
    const again = await prepare(mac, password, '--host-key', mac.hostKey());
    assert.equal(again.code, 0, again.out);
    const news = mac.journal.entries.slice(changed).map(({ what }) => what);
    assert.ok(!news.includes('loginwindow.respawn') && !news.includes('sudo.password'), news.join(' '));
  });

  test('detects a wrong password at the first attempt, and does not try it again', async () => {
    const mac = await freshMac();
    const attempts = (): string[] =>
      mac.journal.entries.filter(({ what }) => what === 'sudo.password').map(({ detail }) => detail);
    const first = await prepare(mac, 'not the one');
    assert.equal(first.code, 1);
    assert.match(first.out, /refused the password of m1/);
    const second = await prepare(mac, 'not the one');
    assert.match(second.out, /refused before/);
    assert.deepEqual(attempts(), ['wrong']);
    assert.ok(!`${first.out}${first.err}${second.out}`.includes('not the one'));
    const third = await prepare(mac, password);
    assert.equal(third.code, 0, third.out);
  });

  test('detects a wrong password at the console on a host with passwordless sudo (INC-07)', async () => {
    const mac = await freshMac();
    const rule = mac.path('/etc/sudoers.d/m1-nopasswd');
    writeFileSync(rule, 'm1 ALL=(ALL) NOPASSWD: ALL\n');
    chmodSync(rule, 0o440);
    const { code, out } = await prepare(mac, 'not the one');
    assert.equal(code, 1);
    assert.match(out, /sealed .*kcpassword: it is wrong/);
    assert.equal(mac.guiSession(), 'none');
  });

  for (const [what, given] of [
    ['an empty', ''],
    ['a sealed', '<sealed>'],
  ] as const) {
    test(`sends nothing for ${what} password`, async () => {
      const mac = await freshMac();
      const { code, out } = await prepare(mac, given);
      assert.equal(code, 2);
      assert.match(out, /No password was given/);
      assert.ok(!mac.journal.entries.some(({ what }) => what === 'ssh.login'));
    });
  }

  test('works where loginwindow is dead or must not be restarted by launchd (INC-08)', async () => {
    for (const loginwindow of ['dead', 'forbidden'] as const) {
      const mac = await freshMac();
      mac.faults.loginwindow = loginwindow;
      const { code, out } = await prepare(mac, password);
      assert.equal(code, 0, out);
      assert.equal(mac.guiSession(), 'Aqua');
    }
  });

  test('reports when no console session starts', async () => {
    const mac = await freshMac();
    mac.faults.noGuiSession = true;
    const { code, out } = await prepare(mac, password);
    assert.equal(code, 1);
    assert.match(out, /no console session within 30 s/);
  });

  test('changes nothing that would kill VMs on a busy Mac', async () => {
    const mac = await freshMac();
    const { code, out } = await prepare(mac, password, '--busy');
    assert.equal(code, 0, out);
    assert.match(out, /step auto-login was skipped/);
    assert.equal(mac.guiSession(), 'none');
  });

  test('distinguishes an unreachable host, a rejected key and another host key', async () => {
    const mac = await freshMac({ authorizedKeys: [] });
    const refused = await prepare(mac, password);
    assert.deepEqual([refused.code, /rejects the SSH key of m1/.test(refused.err)], [2, true], refused.err);
    const known = await freshMac();
    const changed = await prepare(known, password, '--host-key', `SHA256:${'A'.repeat(43)}`);
    assert.deepEqual([changed.code, /The host key of/.test(changed.err)], [2, true], changed.err);
    known.faults.ssh = 'refuse';
    const away = await prepare(known, password);
    assert.deepEqual([away.code, /Cannot reach/.test(away.err)], [2, true], away.err);
    const noKey = await run(['doctor', 'localhost', '--identity', join(folder, 'none')]);
    assert.deepEqual([noKey.code, /cannot be read/.test(noKey.err)], [2, true], noKey.err);
  });

  test('doctor lists the differences to a full specification, as text and as JSON, and changes nothing', async () => {
    const mac = await freshMac();
    await prepare(mac, password);
    const spec = await workingSpec(join(folder, 'artifacts'));
    const file = join(folder, 'mac.yaml');
    const { tart, agent } = spec;
    const written = {
      nodeName: 'mac-7',
      tart: tart.file,
      agent: { runtime: agent.runtime.file, release: agent.release.file, nodeLabels: { 'tuist.dev/fleet': 'a' } },
    };
    writeFileSync(file, JSON.stringify(written));
    const footprint = await mac.run(
      `find "$TARTAN_ROOT/usr/local" "$TARTAN_ROOT/etc" "$TARTAN_ROOT/var/db" -type f | sort`,
    );

    const tsv = await run(['doctor', ...at(mac), '--spec', file, '--output', 'tsv']);
    assert.equal(tsv.code, 1, tsv.err);
    const rows = tsv.out
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    assert.deepEqual(rows[0], ['step', 'state', 'stamp', 'difference']);
    assert.ok(rows.some(([step, state]) => step === 'tart' && state === 'different'));
    assert.ok(rows.some(([step, state, stamp]) => step === 'power' && state === 'as wanted' && stamp === 'current'));

    const json = await run(['doctor', ...at(mac), '--spec', file, '--output', 'json']);
    const report = JSON.parse(json.out) as { hostKey: string; steps: { step: string; state: string }[] };
    assert.equal(report.hostKey, mac.hostKey());
    assert.ok(report.steps.some(({ step, state }) => step === 'agent-job' && state === 'different'));

    const now = await mac.run(`find "$TARTAN_ROOT/usr/local" "$TARTAN_ROOT/etc" "$TARTAN_ROOT/var/db" -type f | sort`);
    assert.equal(now.stdout, footprint.stdout);
  });

  test('untrusted text from a Mac is escaped, by doctor and prepare-host', async () => {
    const mac = await freshMac();
    await prepare(mac, password);
    // A fake tool before the real ones: OSC 52 writes to the clipboard of the terminal's user.
    const bin = mac.path('/usr/bin');
    rmSync(bin);
    mkdirSync(bin);
    writeFileSync(join(bin, 'pmset'), `#!/bin/sh\nprintf '\\033]52;c;aGk=\\007' >&2\nexit 1\n`, { mode: 0o755 });
    const said = [
      await run(['doctor', ...at(mac)]),
      await run(['doctor', ...at(mac), '--output', 'tsv']),
      await run(['doctor', ...at(mac), '--output', 'json']),
      await prepare(mac, password),
    ];
    for (const { out, err } of said) {
      assert.match(`${out}${err}`, /52;c;aGk=/);
      assert.doesNotMatch(`${out}${err}`, /[^\P{Cc}\n\t]/u);
    }
  });

  const wrong: readonly (readonly [string, unknown, RegExp])[] = [
    ['a missing field', { nodeName: 'x' }, /tart: .*agent: /s],
    ['an unknown field', { nodeName: 'x', tart: 'a', agent: { runtime: 'a', release: 'a' }, tarts: 1 }, /tarts/],
    [
      'a file that is not there',
      { nodeName: 'x', tart: 'nowhere', agent: { runtime: 'a', release: 'a' } },
      /tart: cannot read/,
    ],
  ];
  for (const [what, content, message] of wrong) {
    test(`a specification with ${what} is rejected by name before any connection`, async () => {
      const file = join(folder, 'wrong.yaml');
      writeFileSync(file, JSON.stringify(content));
      const { code, err } = await run(['doctor', 'localhost', '--spec', file, '--identity', identity]);
      assert.equal(code, 2);
      assert.match(err, message);
    });
  }
});
