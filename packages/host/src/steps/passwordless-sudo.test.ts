import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Mac } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import { cutEverywhere } from '../testing/crash-injection.ts';
import { exampleSpec } from '../testing/example-spec.ts';
import { footprint } from '../testing/footprint.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { runStep } from '../testing/run-step.ts';
import { passwordlessSudo, wrongPasswordExitCode } from './preparation.ts';

const ruleFile = '/etc/sudoers.d/m1-nopasswd';
const rule = 'm1 ALL=(ALL) NOPASSWD: ALL\n';
const marks = '/Users/m1/.tartan-refused-passwords';

/** sudo's verdict on each password. */
const attempts = (mac: Mac): string[] =>
  mac.journal.entries
    .filter(({ what, detail }) => what === 'sudo.password' && detail !== 'none')
    .map(({ detail }) => detail);

describe('passwordless sudo', { concurrency: 2 }, () => {
  let macs: FreshMacs;
  let spec: HostSpec;
  before(() => {
    macs = freshMacs();
    spec = exampleSpec(macs.folder);
  });
  after(() => macs.stopAll());

  const fresh = (): Promise<Mac> => macs.start({ sudo: false });
  const run = (mac: Mac, userPassword?: string) =>
    runStep(mac, passwordlessSudo, spec, { secrets: userPassword === undefined ? {} : { userPassword } });

  test('the right password lets the user become root, with one attempt', async () => {
    const mac = await fresh();
    const answer = await run(mac, mac.user.password);
    assert.deepEqual([answer.result, answer.stderr], ['applied', '']);
    assert.equal(readFileSync(mac.path(ruleFile), 'utf8'), rule);
    assert.equal(statSync(mac.path(ruleFile)).mode & 0o777, 0o440);
    assert.equal((await mac.run('sudo -n id -un')).stdout, 'root\n');
    assert.deepEqual(attempts(mac), ['right']);
    assert.deepEqual(readdirSync(mac.path('/etc/sudoers.d')), ['m1-nopasswd']);
  });

  test('a second run changes nothing, with and without a password', async () => {
    const mac = await fresh();
    await run(mac, mac.user.password);
    const before = footprint(mac);
    for (const password of [mac.user.password, 'another', undefined]) {
      assert.equal((await run(mac, password)).result, 'unchanged');
    }
    assert.deepEqual(footprint(mac), before);
  });

  test('a password is passed unchanged, whatever its characters', async () => {
    const mac = await fresh();
    for (const password of [
      `it's "quoted" \\ $HOME \`id\``,
      ' spaces around ',
      'ünïcödé ✓',
      '12345678901',
      '-n',
      '%s%d\\n',
    ]) {
      rmSync(mac.path(ruleFile), { force: true });
      mac.setPassword(password);
      assert.equal((await run(mac, password)).result, 'applied', password);
    }
    assert.deepEqual(new Set(attempts(mac)), new Set(['right']));
  });

  for (const [name, password] of [
    ['no', undefined],
    ['an empty', ''],
    ['a sealed', '<sealed>'],
  ] as const) {
    test(`with ${name} password nothing is tried, and the error says what to do`, async () => {
      const mac = await fresh();
      const answer = await run(mac, password);
      assert.equal(answer.code, 1);
      assert.match(answer.stderr, /nothing was tried.*tartan prepare-host/s);
      assert.deepEqual(attempts(mac), []);
      assert.equal(existsSync(mac.path(ruleFile)), false);
    });
  }

  test('a wrong password is tried once, however often it is sent', async () => {
    const mac = await fresh();
    for (let time = 0; time < 3; time += 1) {
      const answer = await run(mac, 'mistaken');
      assert.equal(answer.code, wrongPasswordExitCode);
      assert.match(answer.stderr, /refused/);
      assert.doesNotMatch(answer.stdout + answer.stderr, /mistaken/);
    }
    assert.deepEqual(attempts(mac), ['wrong']);
    assert.equal(existsSync(mac.path(ruleFile)), false);
  });

  test('the record of a wrong password is four digits that only its user can read', async () => {
    const mac = await fresh();
    await run(mac, 'mistaken');
    assert.match(readFileSync(mac.path(marks), 'utf8'), /^\S+ [0-9a-f]{4}\n$/);
    assert.equal(statSync(mac.path(marks)).mode & 0o777, 0o600);
  });

  test('after a wrong password another one is tried', async () => {
    const mac = await fresh();
    await run(mac, 'mistaken');
    assert.equal((await run(mac, mac.user.password)).result, 'applied');
    assert.deepEqual(attempts(mac), ['wrong', 'right']);
    assert.equal(existsSync(mac.path(marks)), false);
  });

  test('a reboot clears the lockout and the record', async () => {
    const mac = await fresh();
    await run(mac, 'set later');
    mac.setPassword('set later');
    assert.equal((await run(mac, 'set later')).code, wrongPasswordExitCode);
    await mac.reboot();
    assert.equal((await run(mac, 'set later')).result, 'applied');
  });

  test('a host prepared by hand needs no password, and gets our rule', async () => {
    const mac = await fresh();
    writeFileSync(mac.path('/etc/sudoers.d/by-hand'), '%admin ALL=(ALL) NOPASSWD:ALL\n');
    chmodSync(mac.path('/etc/sudoers.d/by-hand'), 0o440);
    assert.equal((await run(mac)).result, 'applied');
    assert.equal(readFileSync(mac.path(ruleFile), 'utf8'), rule);
    assert.deepEqual(attempts(mac), []);
  });

  test('a changed rule of ours is corrected', async () => {
    const mac = await macs.start();
    chmodSync(mac.path(ruleFile), 0o600);
    writeFileSync(mac.path(ruleFile), `${rule}# and more\n`);
    chmodSync(mac.path(ruleFile), 0o440);
    assert.equal((await run(mac)).result, 'applied');
    assert.equal(readFileSync(mac.path(ruleFile), 'utf8'), rule);
  });

  test('a missing rule is restored although the host has our stamp', async () => {
    const mac = await fresh();
    await run(mac, mac.user.password);
    rmSync(mac.path(ruleFile));
    assert.equal((await run(mac, mac.user.password)).result, 'applied');
  });

  test('the file of a user with a dot has none in its name, as sudo would ignore it', async () => {
    const mac = await macs.start({ sudo: false, user: { name: 'jo.doe' } });
    const answer = await runStep(
      mac,
      passwordlessSudo,
      { ...spec, user: 'jo.doe' },
      {
        secrets: { userPassword: mac.user.password },
      },
    );
    assert.deepEqual([answer.result, answer.stderr], ['applied', '']);
    assert.deepEqual(readdirSync(mac.path('/etc/sudoers.d')), ['jo_doe-nopasswd']);
  });

  test('a rule that visudo rejects is never installed, and sudo keeps working', async () => {
    const mac = await macs.start();
    // visudo's answer to an invalid rule.
    writeFileSync(mac.path(ruleFile), rule.replace('m1 ', '%admin '), { flag: 'w' });
    const broken = { ...passwordlessSudo, environment: () => ({ LOGIN_USER: 'm1 m1 m1', RULE_NAME: 'broken' }) };
    const answer = await runStep(mac, broken, spec);
    assert.equal(answer.code, 1);
    assert.deepEqual(readdirSync(mac.path('/etc/sudoers.d')), ['m1-nopasswd']);
    assert.equal((await mac.run('sudo -n true')).code, 0);
  });

  test('where sudoers.d is not included, the step fails and says so', async () => {
    const mac = await fresh();
    const elsewhere = { ...passwordlessSudo, environment: () => ({ LOGIN_USER: 'm1', RULE_NAME: 'not.read' }) };
    const answer = await runStep(mac, elsewhere, spec, { secrets: { userPassword: mac.user.password } });
    assert.equal(answer.code, 1);
    assert.match(answer.stderr, /sudo still asks/);
  });

  test('neither the password nor a part of it is in an argument or the environment of a process', async () => {
    const mac = await macs.start({ sudo: false, traceArguments: true, user: { password: 'planted-secret' } });
    assert.equal((await run(mac, 'planted-secret')).result, 'applied');
    assert.doesNotMatch(JSON.stringify(mac.journal.entries), /planted/);
    assert.doesNotMatch(JSON.stringify(footprint(mac).files), /planted/);
  });

  test('after any interruption sudo works, and a second run completes the step', async () => {
    const mac = await fresh();
    const cuts = await cutEverywhere(passwordlessSudo, {
      spec,
      secrets: { userPassword: mac.user.password },
      prepare: async () => {
        for (const name of readdirSync(mac.path('/etc/sudoers.d'))) rmSync(mac.path(`/etc/sudoers.d/${name}`));
        return mac;
      },
      check: async () => {
        assert.match((await mac.run('sudo -n true')).stderr, /^(sudo: a password is required\n)?$/);
        const answer = await run(mac, mac.user.password);
        assert.match(answer.result ?? '', /applied|unchanged/, answer.stderr);
        assert.deepEqual(readdirSync(mac.path('/etc/sudoers.d')), ['m1-nopasswd']);
      },
    });
    assert.ok(cuts > 3, String(cuts));
    assert.deepEqual(new Set(attempts(mac)), new Set(['right']));
  });

  test('a full disk never breaks sudo, and the next run succeeds', async () => {
    const mac = await fresh();
    mac.faults.diskFree = 0;
    assert.notEqual((await run(mac, mac.user.password)).code, 0);
    assert.match((await mac.run('sudo -n true')).stderr, /^(sudo: a password is required\n)?$/);
    mac.faults.diskFree = undefined;
    assert.match((await run(mac, mac.user.password)).result ?? '', /applied|unchanged/);
    assert.equal(readFileSync(mac.path(ruleFile), 'utf8'), rule);
  });
});
