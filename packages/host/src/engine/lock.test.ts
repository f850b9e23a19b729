import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { systemClock } from '@tartan/kube/clock';
import { type Mac, startMac } from '@tartan/sim-mac';
import { connectToMac, fleetKey } from '../testing/connect-to-mac.ts';
import { grantRoot } from '../testing/fresh-macs.ts';
import { macConnection } from '../testing/mac-connection.ts';
import { composeScript, shellCommand } from './compose-script.ts';
import { acquireLock, type LockOutcome } from './lock.ts';

type HeldLock = Extract<LockOutcome, { kind: 'acquired' }>;
import { hostRedactor } from './redaction.ts';

describe('the lock of a host', () => {
  let folder: string;
  let mac: Mac;
  const { publicKey, privateKey } = fleetKey();
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-lock-'));
    mac = await startMac({ folder, authorizedKeys: [publicKey] });
    grantRoot(mac);
  });
  afterEach(() => rmSync(mac.path('/var/db/tartan'), { recursive: true, force: true }));
  after(async () => {
    await mac.stop();
    rmSync(folder, { recursive: true });
  });

  const acquire = (owner: string): Promise<LockOutcome> => acquireLock(macConnection(mac), owner, hostRedactor({}));
  const take = async (owner: string): Promise<HeldLock> => {
    const outcome = await acquire(owner);
    assert.ok(outcome.kind === 'acquired', JSON.stringify(outcome));
    return outcome;
  };
  const lockFiles = (): string[] => readdirSync(mac.path('/var/db/tartan/lock')).filter((name) => /^\d/.test(name));
  const age = (name: string): void => {
    const when = systemClock.now() / 1000 - 32 * 60;
    utimesSync(mac.path(`/var/db/tartan/lock/${name}`), when, when);
  };
  /** The first action of every script that changes something. */
  const mayWork = async (lock: HeldLock): Promise<boolean> => {
    const script = composeScript('', { LOCK_OWNER: lock.token, STEP: 'a-step' }, 'main() { hold_lock; }');
    const { code } = await mac.run(shellCommand(script, { asRoot: true }));
    assert.ok(code === 0 || code === 75);
    return code === 0;
  };

  test('goes to one of several concurrent pushers, and the others get its holder', async () => {
    const owners = ['anna', 'ben', 'carla', 'dora'];
    const before = systemClock.now();
    const outcomes = await Promise.all(owners.map(acquire));
    const winners = owners.filter((_, at) => outcomes[at]?.kind === 'acquired');
    assert.equal(winners.length, 1);
    for (const outcome of outcomes) {
      if (outcome.kind === 'acquired') continue;
      assert.ok(outcome.kind === 'locked', JSON.stringify(outcome));
      assert.equal(outcome.by, winners[0]);
      assert.ok(Date.parse(outcome.since) > before - 2_000, 'whole seconds, by the time of a file');
    }
  });

  test('goes to one of several callers that find the same expired lock', async () => {
    const old = await take('gone');
    for (const name of lockFiles()) age(name);
    const outcomes = await Promise.all(['anna', 'ben', 'carla', 'dora'].map(acquire));
    const kinds = outcomes.map(({ kind }) => kind).sort();
    assert.deepEqual(kinds, ['acquired', 'locked', 'locked', 'locked'], JSON.stringify(outcomes));
    assert.equal(await mayWork(old), false);
    assert.equal(lockFiles().length, 1);
  });

  test('is free after its release', async () => {
    const first = await take('anna');
    assert.equal((await acquire('ben')).kind, 'locked');
    await first.release();
    assert.equal(await mayWork(first), false);
    await take('ben');
  });

  test('can be released only by its holder', async () => {
    const first = await take('anna');
    for (const name of lockFiles()) age(name);
    const second = await take('ben');
    await first.release();
    assert.equal((await acquire('carla')).kind, 'locked');
    assert.equal(await mayWork(second), true);
    assert.equal(await mayWork(first), false);
  });

  test('is kept while its holder works, and lost after half an hour without work', async () => {
    const lock = await take('anna');
    for (const name of lockFiles()) age(name);
    assert.equal(await mayWork(lock), true);
    assert.equal((await acquire('ben')).kind, 'locked');
    for (const name of lockFiles()) age(name);
    await take('ben');
  });

  test('is lost with a reboot', async () => {
    const lock = await take('anna');
    await mac.reboot();
    await take('ben');
    assert.equal(await mayWork(lock), false);
  });

  test('goes back at once to a caller whose connection was interrupted, and its earlier commands are rejected', async () => {
    const before = await take('anna');
    const after = await take('anna');
    assert.equal(await mayWork(before), false);
    assert.equal(await mayWork(after), true);
  });

  test('is not granted while a script of an earlier run is still running', async (t) => {
    const lock = await take('anna');
    await lock.release();
    const script = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
    t.after(() => script.kill());
    writeFileSync(mac.path('/var/db/tartan/lock/at-work'), `${script.pid}\na-step\nanna#1\n`);
    for (const owner of ['anna', 'ben']) {
      const outcome = await acquire(owner);
      assert.deepEqual({ ...outcome, since: '' }, { kind: 'locked', by: 'anna', since: '', step: 'a-step' });
    }
    age('at-work');
    await take('ben');
  });

  test('is not granted while a part of an aborted script still runs', async (t) => {
    const lock = await take('anna');
    const connection = await connectToMac(mac, privateKey, { pinnedHostKey: mac.hostKey() });
    t.after(() => connection.close());
    await mac.run('mkfifo gate started');
    const script = composeScript(
      '',
      { LOCK_OWNER: lock.token, STEP: 'a-step' },
      'main() { hold_lock; printf payload | { cat >/dev/null; echo yes >started; read -r word <gate; }; }',
    );
    const aborted = new AbortController();
    const outcome = connection.run(
      { command: shellCommand(script, { asRoot: true }), deadline: 60_000 },
      aborted.signal,
    );
    await mac.run('cat started');
    aborted.abort();
    assert.equal((await outcome).kind, 'aborted');
    const [pid = ''] = readFileSync(mac.path('/var/db/tartan/lock/at-work'), 'utf8').split('\n');
    await mac.run(`while kill -0 ${pid}; do sleep 0.01; done`);
    assert.equal((await acquire('anna')).kind, 'locked');
    await mac.run(`echo on >gate; while kill -0 -${pid}; do sleep 0.01; done`);
    await take('anna');
  });

  test('is granted at once after a script has ended that left a background process', async () => {
    const lock = await take('anna');
    const main = 'main() { hold_lock; sleep 600 </dev/null >/dev/null 2>&1 & result applied; }';
    const script = composeScript('', { LOCK_OWNER: lock.token, STEP: 'a-step' }, main);
    await mac.run(shellCommand(script, { asRoot: true }));
    await take('anna');
  });

  test('is invalid under an older token', async () => {
    const lock = await take('anna');
    writeFileSync(mac.path('/var/db/tartan/lock/100000000'), 'slow#1\nboot\n0\n');
    assert.equal(await mayWork(lock), true);
    assert.equal((await acquire('ben')).kind, 'locked');
  });

  test('without content, as after a power failure, is free', async () => {
    mkdirSync(mac.path('/var/db/tartan/lock'), { recursive: true });
    writeFileSync(mac.path('/var/db/tartan/lock/100000007'), '');
    const lock = await take('anna');
    assert.equal(await mayWork(lock), true);
  });

  test('that cannot be created is an error with the reason', async () => {
    mkdirSync(mac.path('/var/db/tartan'), { recursive: true });
    writeFileSync(mac.path('/var/db/tartan/lock'), '');
    const outcome = await acquire('anna');
    assert.ok(outcome.kind === 'step failed' && outcome.error.tail !== '', JSON.stringify(outcome));
  });
});
