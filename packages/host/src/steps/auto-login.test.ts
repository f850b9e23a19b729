import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Mac } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import { cutEverywhere } from '../testing/crash-injection.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { footprint } from '../testing/footprint.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { runStep } from '../testing/run-step.ts';
import { autoLogin, kcpassword, wrongPasswordExitCode } from './preparation.ts';

const file = '/etc/kcpassword';

describe('auto-login', { concurrency: 2 }, () => {
  let macs: FreshMacs;
  let spec: HostSpec;
  before(() => {
    macs = freshMacs();
    spec = exampleSpec(macs.folder);
  });
  after(() => macs.stopAll());

  const run = (mac: Mac, userPassword?: string) =>
    runStep(mac, autoLogin, spec, { secrets: userPassword === undefined ? {} : { userPassword } });
  const kept = (mac: Mac): Buffer => readFileSync(mac.path(file));
  const respawns = (mac: Mac): number =>
    mac.journal.entries.filter(({ what }) => what === 'loginwindow.respawn').length;
  const setUser = (mac: Mac, user: string) =>
    mac.run(`defaults write /Library/Preferences/com.apple.loginwindow autoLoginUser ${user}`, { asRoot: true });
  const preparedByHand = async (): Promise<Mac> => {
    const mac = await macs.start();
    writeFileSync(mac.path(file), kcpassword(mac.user.password), { mode: 0o600 });
    await setUser(mac, 'm1');
    return mac;
  };
  const converged = async (): Promise<Mac> => {
    const mac = await macs.start();
    assert.equal((await run(mac, mac.user.password)).result, 'applied');
    return mac;
  };

  test('the right password starts a console session on a fresh Mac', async () => {
    const mac = await macs.start();
    const answer = await run(mac, mac.user.password);
    assert.deepEqual([answer.result, answer.stderr], ['applied', '']);
    assert.equal(mac.guiSession(), 'Aqua');
    assert.deepEqual(kept(mac), kcpassword(mac.user.password));
    assert.equal(statSync(mac.path(file)).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(mac.path('/var/db/tartan')), ['steps']);
  });

  test('a second run writes and restarts nothing, with any password', async () => {
    const mac = await converged();
    const before = footprint(mac);
    for (const password of [mac.user.password, 'another', undefined]) {
      assert.equal((await run(mac, password)).result, 'unchanged');
    }
    assert.deepEqual(footprint(mac), before);
    assert.equal(mac.guiSession(), 'Aqua');
  });

  test('nothing is changed on a host that is not idle', async () => {
    const mac = await macs.start();
    const before = footprint(mac);
    const secrets = { userPassword: mac.user.password };
    assert.equal((await runStep(mac, autoLogin, spec, { secrets, idle: false })).result, 'deferred');
    assert.deepEqual(footprint(mac), before);
  });

  test('a password is passed unchanged, whatever its characters', async () => {
    const mac = await converged();
    for (const password of [`it's "quoted" \\ $HOME`, 'ünïcödé ✓', '12345678901', 'long '.repeat(30)]) {
      mac.setPassword(password);
      mac.endGuiSession();
      assert.equal((await run(mac, password)).result, 'applied', password);
      assert.equal(mac.guiSession(), 'Aqua');
    }
  });

  test('a wrong password is written by macOS, which is fatal (INC-07)', async () => {
    const mac = await macs.start();
    const answer = await run(mac, 'mistaken');
    assert.equal(answer.code, wrongPasswordExitCode);
    assert.match(answer.stderr, /refused the password of m1 at the console and sealed/);
    assert.doesNotMatch(answer.stderr + answer.stdout, /mistaken/);
    assert.equal(existsSync(mac.path('/var/db/tartan/steps/auto-login')), false);
  });

  test('a wrong password is tried once, however often it is sent', async () => {
    const mac = await macs.start();
    for (let time = 0; time < 3; time += 1) assert.equal((await run(mac, 'mistaken')).code, wrongPasswordExitCode);
    assert.equal(respawns(mac), 1);
    assert.doesNotMatch(readFileSync(mac.path('/var/db/tartan/refused-logins'), 'utf8'), /mistaken/);
  });

  test('the right password repairs a wrong one', async () => {
    const mac = await macs.start();
    await run(mac, 'mistaken');
    assert.equal((await run(mac, mac.user.password)).result, 'applied');
    assert.equal(mac.guiSession(), 'Aqua');
  });

  for (const [name, password] of [
    ['no', undefined],
    ['an empty', ''],
    ['a sealed', '<sealed>'],
  ] as const) {
    test(`with ${name} password a fresh Mac is unchanged, and the error says what to do`, async () => {
      const mac = await macs.start();
      const before = footprint(mac);
      const answer = await run(mac, password);
      assert.equal(answer.code, 1);
      assert.match(answer.stderr, /kcpassword is missing, and no password is known.*tartan prepare-host/s);
      assert.deepEqual(footprint(mac), before);
    });
  }

  for (const [name, bytes, words] of [
    ['sealed', kcpassword('<sealed>'), /is sealed/],
    ['empty-password', kcpassword(''), /holds an empty password/],
    ['zero-byte', Buffer.alloc(0), /is missing/],
  ] as const) {
    test(`a ${name} file is no success, and only a password repairs it`, async () => {
      const mac = await preparedByHand();
      writeFileSync(mac.path(file), bytes);
      const before = footprint(mac);
      const answer = await run(mac);
      assert.equal(answer.code, 1);
      assert.match(answer.stderr, words);
      assert.deepEqual(footprint(mac), before);
      assert.equal((await run(mac, mac.user.password)).result, 'applied');
    });
  }

  test('without a password, auto-login of another user is kept', async () => {
    const mac = await preparedByHand();
    await setUser(mac, 'somebody');
    const before = footprint(mac);
    const answer = await run(mac);
    assert.equal(answer.code, 1);
    assert.match(answer.stderr, /not set to m1, and no password is known/);
    assert.deepEqual(footprint(mac), before);
  });

  test('a host prepared by hand needs no password', async () => {
    const mac = await preparedByHand();
    assert.equal((await run(mac)).result, 'applied');
    assert.equal(mac.guiSession(), 'Aqua');
  });

  test('a lost session is restored, also without a password, and no file is written again', async () => {
    const mac = await converged();
    const files = (): string[] => footprint(mac).files.filter((line) => !line.includes('/tartan/steps/'));
    for (const password of [undefined, mac.user.password]) {
      mac.endGuiSession();
      const before = files();
      const { result, differences } = await run(mac, password);
      assert.deepEqual([result, differences], ['applied', ['m1 has no console session']]);
      assert.equal(mac.guiSession(), 'Aqua');
      assert.deepEqual(files(), before);
    }
  });

  test('the permissions of a readable file are restricted without a restart', async () => {
    const mac = await converged();
    chmodSync(mac.path(file), 0o644);
    const before = respawns(mac);
    assert.equal((await run(mac)).result, 'applied');
    assert.equal(statSync(mac.path(file)).mode & 0o777, 0o600);
    assert.equal(respawns(mac), before);
  });

  test('a dead loginwindow is started (INC-08)', async () => {
    const mac = await macs.start();
    mac.faults.loginwindow = 'dead';
    assert.equal((await run(mac, mac.user.password)).result, 'applied');
    assert.equal(mac.guiSession(), 'Aqua');
  });

  test('a loginwindow that launchd must not kill is ended by a signal other than SIGHUP', async () => {
    const mac = await macs.start();
    mac.faults.loginwindow = 'forbidden';
    const answer = await run(mac, mac.user.password);
    assert.deepEqual([answer.result, answer.stderr], ['applied', '']);
    assert.equal(mac.guiSession(), 'Aqua');
  });

  test('a session that does not start fails the step, with the reason', async () => {
    const mac = await macs.start();
    mac.faults.noGuiSession = true;
    const answer = await run(mac, mac.user.password);
    assert.equal(answer.code, 1);
    assert.match(answer.stderr, /no console session within 30 s.*FileVault is Off/s);
    assert.equal(existsSync(mac.path('/var/db/tartan/steps/auto-login')), false);
    mac.faults.noGuiSession = false;
    assert.equal((await run(mac, mac.user.password)).result, 'applied');
  });

  test('a wrong password is detected also while somebody is logged in', async () => {
    const mac = await converged();
    await setUser(mac, 'somebody');
    assert.equal((await run(mac, 'mistaken')).code, wrongPasswordExitCode);
  });

  test('python is not needed, and no password is in an argument or a file of ours', async () => {
    const mac = await macs.start({ traceArguments: true, user: { password: 'planted-secret' } });
    assert.equal((await run(mac, 'planted-secret')).result, 'applied');
    const encoded = kcpassword('planted-secret').toString('base64');
    const journal = JSON.stringify(mac.journal.entries);
    for (const secret of ['planted', encoded, 'developer tools wanted']) assert.ok(!journal.includes(secret), secret);
    const files = footprint(mac).files.filter((line) => line.includes('planted') || line.includes(encoded));
    assert.deepEqual(
      files.map((line) => line.split(' ')[0]),
      ['/private/etc/kcpassword'],
    );
  });

  test('after any interruption, the password counts only after loginwindow has accepted it', async () => {
    const mac = await converged();
    let before = 0;
    const cuts = await cutEverywhere(autoLogin, {
      spec,
      secrets: { userPassword: mac.user.password },
      // The session exists, so it proves nothing by itself.
      prepare: async () => {
        writeFileSync(mac.path(file), kcpassword('before'));
        await setUser(mac, 'somebody');
        before = respawns(mac);
        return mac;
      },
      check: async () => {
        const { result, stderr } = await run(mac, mac.user.password);
        assert.match(result ?? '', /applied|unchanged/, stderr);
        assert.ok(respawns(mac) > before);
        assert.deepEqual(kept(mac), kcpassword(mac.user.password));
        assert.equal(mac.guiSession(), 'Aqua');
        assert.deepEqual(readdirSync(mac.path('/var/db/tartan')), ['steps']);
      },
    });
    assert.ok(cuts >= 5, String(cuts));
  });

  test('a full disk keeps the previous file, and the next run succeeds', async () => {
    const mac = await preparedByHand();
    writeFileSync(mac.path(file), kcpassword('before'));
    mac.faults.diskFree = 0;
    const answer = await run(mac, mac.user.password);
    assert.notEqual(answer.code, 0);
    assert.deepEqual(kept(mac), kcpassword('before'));
    mac.faults.diskFree = undefined;
    assert.equal((await run(mac, mac.user.password)).result, 'applied');
  });

  test('a truncated payload is not used as the password', async () => {
    const mac = await preparedByHand();
    const cut = { ...autoLogin, payload: () => kcpassword('of the simulated Mac').toString('base64').slice(0, 8) };
    const answer = await runStep(mac, cut, spec);
    assert.equal(answer.code, 1);
    assert.match(answer.stderr, /did not arrive whole/);
    assert.deepEqual(kept(mac), kcpassword(mac.user.password));
  });
});
